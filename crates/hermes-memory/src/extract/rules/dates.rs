//! Days as people say them: `next Friday`, `in two weeks`, `30 June`, `end of the month`, `Q2`.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use crate::reader::words::Word;

/// A day, and how many words name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) day: Date,
    pub(super) length: usize,
}

/// The day that the first words name, seen from the day they were said.
pub(super) fn at_start(words: &[Word], said: Date) -> Option<Named> {
    let lower: Vec<&str> = words.iter().take(8).map(|word| word.lower.as_str()).collect();
    let skipped = lower.iter().take_while(|word| is_article(word)).count();
    if skipped > 2 {
        return None;
    }
    let found = named(&lower[skipped..], said)?;
    Some(Named { day: found.day, length: found.length + skipped })
}

/// The last day that the words name, with the place where it begins.
pub(super) fn last(words: &[Word], said: Date) -> Option<(usize, Named)> {
    let mut found = None;
    let mut at = 0;
    while at < words.len() {
        // `Friday EOD` is Friday.
        let is_hour = found.is_some() && words[at].lower == "eod";
        match at_start(&words[at..], said).filter(|_| !is_hour) {
            Some(named) => {
                found = Some((at, named));
                at += named.length.max(1);
            }
            None => at += 1,
        }
    }
    found
}

fn is_article(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "on"
            | "by"
            | "until"
            | "till"
            | "til"
            | "before"
            | "bis"
            | "zum"
            | "am"
            | "le"
            | "el"
            | "at"
            | "for"
            | "no"
            | "later"
            | "than"
            | "due"
    )
}

fn named(words: &[&str], said: Date) -> Option<Named> {
    let first = *words.first()?;
    let second = words.get(1).copied().unwrap_or_default();
    let one = |day: Option<Date>, length: usize| day.map(|day| Named { day, length });
    match first {
        "today" | "tonight" | "heute" | "hoy" | "hoje" | "oggi" => return one(Some(said), 1),
        "tomorrow" if second == "week" => return one(after(said, 8.days()), 2),
        "tomorrow" | "morgen" | "demain" | "mañana" | "amanhã" | "domani" => {
            return one(after(said, 1.day()), 1);
        }
        "day" if words.get(1..3) == Some(&["after", "tomorrow"]) => {
            return one(after(said, 2.days()), 3);
        }
        "eod" => return one(Some(said), 1),
        "eom" => return one(Some(said.last_of_month()), 1),
        "eoy" => return one(Some(said.last_of_year()), 1),
        "next" => return one(next(second, said), 2),
        "this" | "coming" => return one(this(second, said), 2),
        "end" | "close" => return end_of(words, said),
        "in" | "within" => return span(words, said),
        _ => {}
    }
    holiday(words, said)
        .or_else(|| from_today(words, said))
        .or_else(|| quarter(words, said))
        .or_else(|| written(words, said))
        .or_else(|| numbers(first))
        .or_else(|| weekday(first).and_then(|day| one(said.nth_weekday(1, day).ok(), 1)))
        .map(|found| with_week(words, said, found))
}

/// `Friday next week`, `Friday of next week`, `Friday this week`, `Friday week`, `Friday after next`,
/// `Friday the 13th`.
fn with_week(words: &[&str], said: Date, found: Named) -> Named {
    let is_weekday = found.length == 1 && words.first().is_some_and(|word| weekday(word).is_some());
    if is_weekday {
        let skipped = usize::from(words.get(1) == Some(&"the"));
        let rest = words.get(1 + skipped..).filter(|rest| !rest.is_empty());
        if let Some(day) = rest.and_then(|rest| written(rest, said)) {
            return Named { day: day.day, length: 1 + skipped + day.length };
        }
        let later = |length: Span| after(found.day, length).map(|day| Named { day, length: 3 });
        if words.get(1) == Some(&"week") {
            return after(found.day, 1.week()).map_or(found, |day| Named { day, length: 2 });
        }
        match words.get(1..3) {
            Some(["after", "next"]) => return later(1.week()).unwrap_or(found),
            Some(["this", "week"]) => {
                let day = this(words[0], said).unwrap_or(found.day);
                return Named { day, length: 3 };
            }
            _ => {}
        }
    }
    let of = usize::from(words.get(1) == Some(&"of"));
    let is_next_week = words.get(1 + of..3 + of) == Some(&["next", "week"]);
    match words.first().and_then(|word| weekday(word)) {
        Some(day) if is_weekday && is_next_week => {
            let monday = start_of_week(said).and_then(|monday| after(monday, 1.week()));
            let offset = i64::from(day.to_monday_zero_offset());
            monday
                .and_then(|monday| after(monday, offset.days()))
                .map_or(found, |day| Named { day, length: 3 + of })
        }
        _ => found,
    }
}

fn after(day: Date, length: Span) -> Option<Date> {
    day.checked_add(length).ok()
}

fn start_of_week(day: Date) -> Option<Date> {
    let offset = i64::from(day.weekday().to_monday_zero_offset());
    day.checked_sub(offset.days()).ok()
}

/// `next Friday` is the Friday of next week; `next week` its Friday; `next month` its last day.
fn next(unit: &str, said: Date) -> Option<Date> {
    let monday = start_of_week(said).and_then(|monday| after(monday, 1.week()));
    if let Some(day) = weekday(unit) {
        return after(monday?, i64::from(day.to_monday_zero_offset()).days());
    }
    match unit {
        "week" => after(monday?, 4.days()),
        "month" => Some(after(said.first_of_month(), 1.month())?.last_of_month()),
        "year" => Some(after(said.first_of_year(), 1.year())?.last_of_year()),
        _ => None,
    }
}

fn this(unit: &str, said: Date) -> Option<Date> {
    if let Some(day) = weekday(unit) {
        let is_today = said.weekday() == day;
        return if is_today { Some(said) } else { said.nth_weekday(1, day).ok() };
    }
    match unit {
        "week" => after(start_of_week(said)?, 4.days()),
        "month" => Some(said.last_of_month()),
        "year" => Some(said.last_of_year()),
        _ => None,
    }
}

fn end_of(words: &[&str], said: Date) -> Option<Named> {
    let mut at = 1;
    while words
        .get(at)
        .is_some_and(|word| matches!(*word, "of" | "the" | "this" | "business" | "on"))
    {
        at += 1;
    }
    let unit = *words.get(at)?;
    let found = |day: Option<Date>, length: usize| day.map(|day| Named { day, length });
    match unit {
        "day" | "today" => found(Some(said), at + 1),
        "week" => found(this("week", said), at + 1),
        "month" => found(Some(said.last_of_month()), at + 1),
        "year" => found(Some(said.last_of_year()), at + 1),
        "quarter" => found(quarter_end(said.year(), (said.month() + 2) / 3), at + 1),
        "next" => found(next(words.get(at + 1)?, said), at + 2),
        _ => {
            if let Some(quarter) = quarter(&words[at..], said) {
                return found(Some(quarter.day), at + quarter.length);
            }
            // `close August 28` names the day itself.
            let has_day = words.get(at + 1).is_some_and(|word| day_number(word).is_some());
            if let Some(month) = month(unit).filter(|_| !has_day) {
                let (year, length) = year_at(words, at + 1, month, 28, said)?;
                return found(
                    Some(Date::new(year, month, 1).ok()?.last_of_month()),
                    at + 1 + length,
                );
            }
            let day = named(&words[at..], said)?;
            found(Some(day.day), at + day.length)
        }
    }
}

/// `in two weeks`, `in 10 days`, `within a month`.
fn span(words: &[&str], said: Date) -> Option<Named> {
    if words.get(3) == Some(&"from") {
        let found = from_today(&words[1..], said)?;
        return Some(Named { day: found.day, length: found.length + 1 });
    }
    let count = number(words.get(1)?)?;
    let unit = words.get(2)?.trim_end_matches('s');
    let length = match unit {
        "day" | "tage" | "tagen" => count.days(),
        "week" | "wochen" => count.weeks(),
        "month" => count.months(),
        "year" => count.years(),
        _ => return None,
    };
    after(said, length).map(|day| Named { day, length: 3 })
}

/// `two weeks from today`, `a week from Friday`, `three weeks today`.
fn from_today(words: &[&str], said: Date) -> Option<Named> {
    let count = number(words.first()?)?;
    let unit = words.get(1)?.trim_end_matches('s');
    let (count, unit) = if unit == "fortnight" { (count * 2, "week") } else { (count, unit) };
    let third = *words.get(2)?;
    if third == "today" && unit == "week" {
        return after(said, count.weeks()).map(|day| Named { day, length: 3 });
    }
    if third != "from" {
        return None;
    }
    let base = named(&words[3..], said).filter(|_| words[3..].first() != Some(&"in"));
    let start = match words.get(3) {
        Some(&"now") => Named { day: said, length: 1 },
        _ => base?,
    };
    let length = match unit {
        "day" => count.days(),
        "week" => count.weeks(),
        "month" => count.months(),
        _ => return None,
    };
    after(start.day, length).map(|day| Named { day, length: 3 + start.length })
}

/// Days with a name of their own.
fn holiday(words: &[&str], said: Date) -> Option<Named> {
    let (month, day, length) = match (words[0], words.get(1).copied().unwrap_or_default()) {
        ("christmas", "eve") => (12, 24, 2),
        ("christmas", "day") => (12, 25, 2),
        ("christmas", _) => (12, 25, 1),
        ("valentine" | "valentines", "'s") if words.get(2) == Some(&"day") => (2, 14, 3),
        ("valentine" | "valentines", "'s") => (2, 14, 2),
        ("valentines", "day") => (2, 14, 2),
        ("halloween", _) => (10, 31, 1),
        ("new", "year") if words.get(3) == Some(&"eve") => (12, 31, 4),
        ("new", "year") if words.get(2) == Some(&"'s") => (1, 1, 3),
        _ => return None,
    };
    let (year, _) = year_at(&[], 0, month, day, said)?;
    Some(Named { day: Date::new(year, month, day).ok()?, length })
}

fn number(word: &str) -> Option<i64> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    let place = WORDS.iter().position(|known| *known == word).and_then(|at| i64::try_from(at).ok());
    place.or_else(|| word.parse().ok()).filter(|count| (1..=1000).contains(count))
}

/// `Q2`, `Q2 2026`: the last day of it.
fn quarter(words: &[&str], said: Date) -> Option<Named> {
    let number: i8 = words.first()?.strip_prefix('q')?.parse().ok()?;
    if !(1..=4).contains(&number) {
        return None;
    }
    if let Some(year) = words.get(1).and_then(|word| year(word)) {
        return quarter_end(year, number).map(|day| Named { day, length: 2 });
    }
    let day = quarter_end(said.year(), number)?;
    let day = if day < said { quarter_end(said.year() + 1, number)? } else { day };
    Some(Named { day, length: 1 })
}

fn quarter_end(year: i16, number: i8) -> Option<Date> {
    Some(Date::new(year, number * 3, 1).ok()?.last_of_month())
}

/// `30 June`, `June 30th, 2026`, `the 30th of June`, `the 15th`.
fn written(words: &[&str], said: Date) -> Option<Named> {
    if let Some(month) = month(words[0]) {
        let day = day_number(words.get(1)?)?;
        let (year, length) = year_at(words, 2, month, day, said)?;
        return Some(Named { day: Date::new(year, month, day).ok()?, length: 2 + length });
    }
    let day = day_number(words[0])?;
    let at = if words.get(1) == Some(&"of") || words.get(1) == Some(&"de") { 2 } else { 1 };
    if at == 2 && words.get(3) == Some(&"month") && matches!(words[2], "this" | "next") {
        let months = if words[2] == "next" { 1 } else { 0 };
        let month = after(said.first_of_month(), months.months())?;
        return Some(Named { day: Date::new(month.year(), month.month(), day).ok()?, length: 4 });
    }
    if let Some(month) = words.get(at).and_then(|word| month(word)) {
        let (year, length) = year_at(words, at + 1, month, day, said)?;
        return Some(Named { day: Date::new(year, month, day).ok()?, length: at + 1 + length });
    }
    let is_ordinal = words[0].ends_with("st")
        || words[0].ends_with("nd")
        || words[0].ends_with("rd")
        || words[0].ends_with("th");
    if !is_ordinal {
        return None;
    }
    // `the second one`, `first thing`: a word for a day needs more around it.
    if ORDINALS.contains(&words[0]) {
        return None;
    }
    let this = Date::new(said.year(), said.month(), day).ok().filter(|day| *day >= said);
    let day = this.or_else(|| {
        let next = after(said.first_of_month(), 1.month())?;
        Date::new(next.year(), next.month(), day).ok()
    })?;
    Some(Named { day, length: 1 })
}

/// The year written there, else the one that makes the day come next; and how many words it took.
fn year_at(words: &[&str], at: usize, month: i8, day: i8, said: Date) -> Option<(i16, usize)> {
    const NEAR: i16 = 20;
    let near = |year: &i16| (year - said.year()).abs() <= NEAR;
    if let Some(year) = words.get(at).and_then(|word| year(word)).filter(near) {
        return Some((year, 1));
    }
    let this = Date::new(said.year(), month, day).ok()?;
    let is_past = this < said;
    Some((if is_past { said.year() + 1 } else { said.year() }, 0))
}

fn year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| word.len() == 4 && (1900..=2200).contains(year))
}

/// The first is the word for day 1.
#[rustfmt::skip]
const ORDINALS: [&str; 31] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth",
    "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
];

fn day_number(word: &str) -> Option<i8> {
    if let Some(at) = ORDINALS.iter().position(|known| *known == word) {
        return i8::try_from(at + 1).ok();
    }
    let digits = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .unwrap_or(word);
    digits.trim_end_matches('.').parse().ok().filter(|day| (1..=31).contains(day))
}

/// `2026-06-30`, `30.06.2026`, `30/06/2026`, `06/30/2026`.
fn numbers(word: &str) -> Option<Named> {
    if word.len() == 10
        && let Ok(day) = word.parse::<Date>()
    {
        return Some(Named { day, length: 1 });
    }
    let parts: Vec<i16> = word.split(['.', '/']).filter_map(|part| part.parse().ok()).collect();
    let [first, second, year] = parts[..] else { return None };
    let small = |value: i16| i8::try_from(value).ok();
    let (day, month) = if second > 12 { (second, first) } else { (first, second) };
    let day = Date::new(year, small(month)?, small(day)?).ok().filter(|_| year >= 1900)?;
    Some(Named { day, length: 1 })
}

pub(super) fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" | "mon" | "montag" | "lundi" | "lunes" | "lunedì" => Weekday::Monday,
        "tuesday" | "tue" | "tues" | "dienstag" | "mardi" | "martes" | "martedì" => {
            Weekday::Tuesday
        }
        "wednesday" | "wed" | "mittwoch" | "mercredi" | "miércoles" | "mercoledì" => {
            Weekday::Wednesday
        }
        "thursday" | "thu" | "thurs" | "donnerstag" | "jeudi" | "jueves" | "giovedì" => {
            Weekday::Thursday
        }
        "friday" | "fri" | "freitag" | "vendredi" | "viernes" | "venerdì" => Weekday::Friday,
        "saturday" | "sat" | "samstag" | "samedi" | "sábado" | "sabato" => Weekday::Saturday,
        "sunday" | "sun" | "sonntag" | "dimanche" | "domingo" | "domenica" => Weekday::Sunday,
        _ => return None,
    })
}

pub(super) fn month(word: &str) -> Option<i8> {
    let word = word.trim_end_matches('.');
    let at = crate::chunk::MONTHS.iter().position(|name| {
        let name = name.to_lowercase();
        word == name
            || (word.len() == 3 && name.starts_with(word))
            || (word == "sept" && name == "september")
    });
    let number = match at {
        Some(at) => at + 1,
        None => match word {
            "januar" | "janvier" | "enero" | "janeiro" | "gennaio" => 1,
            "februar" | "février" | "febrero" | "fevereiro" | "febbraio" => 2,
            "märz" | "mars" | "marzo" | "março" => 3,
            "avril" | "abril" | "aprile" => 4,
            "mai" | "mayo" | "maio" | "maggio" => 5,
            "juni" | "juin" | "junio" | "junho" | "giugno" => 6,
            "juli" | "juillet" | "julio" | "julho" | "luglio" => 7,
            "août" | "agosto" => 8,
            "septembre" | "septiembre" | "setembro" | "settembre" => 9,
            "oktober" | "octobre" | "octubre" | "outubro" | "ottobre" => 10,
            "novembre" | "noviembre" | "novembro" => 11,
            "dezember" | "décembre" | "diciembre" | "dezembro" | "dicembre" => 12,
            _ => return None,
        },
    };
    i8::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::reader::words::words;

    #[test]
    fn days_are_seen_from_the_day_they_were_said() {
        // A Wednesday.
        let said = date(2026, 3, 4);
        for (text, day) in [
            ("today", date(2026, 3, 4)),
            ("tomorrow", date(2026, 3, 5)),
            ("Friday", date(2026, 3, 6)),
            ("this Friday", date(2026, 3, 6)),
            ("next Friday", date(2026, 3, 13)),
            ("Monday next week", date(2026, 3, 9)),
            ("in two weeks", date(2026, 3, 18)),
            ("in 10 days", date(2026, 3, 14)),
            ("the end of the month", date(2026, 3, 31)),
            ("end of June", date(2026, 6, 30)),
            ("30 June", date(2026, 6, 30)),
            ("June 30th, 2027", date(2027, 6, 30)),
            ("the 30th of June", date(2026, 6, 30)),
            ("January 5", date(2027, 1, 5)),
            ("the 15th", date(2026, 3, 15)),
            ("the 2nd", date(2026, 4, 2)),
            ("2026-06-30", date(2026, 6, 30)),
            ("30.06.2026", date(2026, 6, 30)),
            ("06/30/2026", date(2026, 6, 30)),
            ("end of Q2", date(2026, 6, 30)),
            ("Q2 2027", date(2027, 6, 30)),
            ("Monday 31 August", date(2026, 8, 31)),
            ("Friday the 13th", date(2026, 3, 13)),
            ("Thursday this week", date(2026, 3, 5)),
            ("Tuesday after next", date(2026, 3, 17)),
            ("in three weeks from today", date(2026, 3, 25)),
            ("the nineteenth of this month", date(2026, 3, 19)),
            ("7 August, 2000 words", date(2026, 8, 7)),
        ] {
            let found = at_start(&words(text, 0), said).map(|named| named.day);
            assert_eq!(found, Some(day), "{text}");
        }
        for text in ["soon", "may I", "15 people", "in a hurry", "the report"] {
            assert_eq!(at_start(&words(text, 0), said), None, "{text}");
        }
    }
}
