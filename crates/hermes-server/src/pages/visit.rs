//! One visit: who looks, at what, in which form, and what their form says.

use hermes_home::UserId;
use hermes_store::Stop;
use hermes_store::memory::{Memory, Scope};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::text::{self, Html};
use hermes_app::asker::Asker;
use hermes_app::clock;
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};

/// One visit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visit {
    /// The profile that is looked at.
    pub(crate) profile: String,
    /// Parts of the path.
    pub(crate) params: Vec<(String, String)>,
    /// The path, as it was asked for.
    pub(crate) path: String,
    /// What stands after the `?`.
    pub(crate) query: Vec<(String, String)>,
    /// What was sent with a form.
    pub(crate) form: Vec<(String, String)>,
    /// What every form of this visitor must hold.
    pub(crate) csrf: String,
    /// The visitor, as a hash.
    pub(crate) visitor: String,
    /// In which form the answer is wanted.
    pub(crate) format: Format,
    /// Whether only the main part of the page is wanted.
    pub(crate) is_fragment: bool,
    /// Light or dark.
    pub(crate) theme: Theme,
    /// What is said on top of the page.
    pub(crate) notice: Option<super::notice::Notice>,
    /// Ends the work for it when nobody waits any more.
    pub(crate) stop: Stop,
}

/// In which form an answer is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// A page.
    #[default]
    Html,
    /// The same for programs.
    Json,
    /// Its list as a table.
    Csv,
}

/// The colours that a visitor chose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// Which part of a list is shown.
pub(crate) const ROWS: usize = 50;

/// What is known of a request besides its body.
pub(crate) struct Sender<'a> {
    /// The path.
    pub(crate) path: &'a str,
    /// What stands after the `?`.
    pub(crate) query: Option<&'a str>,
    /// What the client takes.
    pub(crate) accept: Option<&'a str>,
    /// The cookies.
    pub(crate) cookies: &'a str,
    /// Whether our script asks.
    pub(crate) is_fragment: bool,
}

impl Visit {
    /// A visit that is not let in yet.
    pub(crate) fn new(sender: &Sender<'_>, params: Vec<(String, String)>) -> Visit {
        let query = pairs(sender.query.unwrap_or_default().as_bytes());
        let wanted = query.iter().find(|(name, _)| name == "format");
        let wants_json = sender.accept.is_some_and(|accept| accept.starts_with("application/json"));
        let format = match wanted.map(|(_, value)| value.as_str()) {
            Some("json") => Format::Json,
            Some("csv") => Format::Csv,
            _ if wants_json => Format::Json,
            _ => Format::Html,
        };
        let profile = params.iter().find(|(name, _)| name == "profile");
        Visit {
            profile: profile.map_or("default", |(_, name)| name).to_owned(),
            params,
            path: sender.path.to_owned(),
            query,
            format,
            is_fragment: sender.is_fragment,
            theme: Theme::parse(cookie(sender.cookies, "theme").unwrap_or_default()),
            ..Visit::default()
        }
    }

    /// A part of the path.
    pub(crate) fn param(&self, name: &str) -> &str {
        find(&self.params, name).unwrap_or_default()
    }

    /// What the address asks for; blank is nothing.
    pub(crate) fn asked(&self, name: &str) -> Option<&str> {
        find(&self.query, name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// A number in the address.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.asked(name)?.parse().ok()
    }

    /// Where the list begins.
    pub(crate) fn offset(&self) -> usize {
        self.number("offset").unwrap_or(0)
    }

    /// What the form says; blank is nothing.
    pub(crate) fn said(&self, name: &str) -> Option<&str> {
        find(&self.form, name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// What the form says, to the byte.
    pub(crate) fn raw_said(&self, name: &str) -> Option<&str> {
        find(&self.form, name)
    }

    /// What the form must say.
    pub(crate) fn must_say(&self, name: &str) -> Result<&str, Problem> {
        self.said(name).ok_or_else(|| Problem::usage(format!("the form field {name} is missing")))
    }

    /// Everything that the form says by this name.
    pub(crate) fn all_said(&self, name: &str) -> Vec<&str> {
        let named = self.form.iter().filter(|(key, _)| key == name);
        named.map(|(_, value)| value.as_str()).collect()
    }

    /// What the form asks for.
    pub(crate) fn deed(&self) -> &str {
        self.said("deed").unwrap_or_default()
    }

    /// The page that a deed leads back to: the one the form stood on, and never another site.
    pub(crate) fn back(&self) -> String {
        let back = self.said("back").filter(|back| back.starts_with("/p/"));
        back.unwrap_or(&self.path).to_owned()
    }

    /// The user whose memory is looked at; none for the owner.
    pub(crate) fn user(&self) -> Option<&str> {
        self.said("user").or_else(|| self.asked("user"))
    }

    /// Who reads.
    pub(crate) fn asker(&self, store: &Memory) -> anyhow::Result<Asker> {
        let Some(name) = self.user() else { return Ok(Asker::owner()) };
        let id: UserId = name.parse()?;
        let user = store.user(id.as_str())?.ok_or_else(|| {
            Problem::new(Kind::NotFound, format!("could not find user {name} in the memory"))
                .hint("list the users with `hermes user list`")
        })?;
        Ok(Asker::of(&user))
    }

    /// Whose things are read or changed.
    pub(crate) fn scope(&self, store: &Memory) -> anyhow::Result<Scope> {
        self.asker(store).map(|asker| asker.scope)
    }

    /// What every template needs.
    pub(crate) fn frame(&self, seat: &Seat) -> anyhow::Result<Frame> {
        Ok(Frame {
            base: format!("/p/{}", self.profile),
            here: self.here(),
            csrf: self.csrf.clone(),
            user: self.user().map(str::to_owned),
            now: seat.app.now,
            zone: seat.app.zone(&seat.home)?,
        })
    }

    /// The address of this page, without what belongs to one look at it.
    pub(crate) fn here(&self) -> String {
        let passing = ["done", "format"];
        let kept = self.query.iter().filter(|(name, _)| !passing.contains(&name.as_str()));
        kept.fold(self.path.clone(), |address, (name, value)| with(&address, name, value))
    }

    /// The same with other values; an empty one takes a name away.
    pub(crate) fn here_with(&self, changes: &[(&str, &str)]) -> String {
        let kept = self.query.iter().filter(|(name, _)| {
            name != "done" && changes.iter().all(|(changed, _)| changed != name)
        });
        let address =
            kept.fold(self.path.clone(), |address, (name, value)| with(&address, name, value));
        let changes = changes.iter().filter(|(_, value)| !value.is_empty());
        changes.fold(address, |address, (name, value)| with(&address, name, value))
    }
}

/// What every template needs: where it stands, what forms must hold, how times are written.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// `/p/default`
    pub(crate) base: String,
    /// The address of the page itself.
    pub(crate) here: String,
    csrf: String,
    user: Option<String>,
    /// When it is looked at.
    pub(crate) now: Timestamp,
    /// The zone of the reader.
    pub(crate) zone: TimeZone,
}

impl Frame {
    /// The address of another page of this profile, for the same user.
    pub(crate) fn link(&self, rest: impl std::fmt::Display) -> String {
        let address = format!("{}/{rest}", self.base);
        match &self.user {
            Some(user) => with(&address, "user", user),
            None => address,
        }
    }

    /// The same with something after the `?`.
    pub(crate) fn link_with(
        &self,
        rest: impl std::fmt::Display,
        name: &str,
        value: impl std::fmt::Display,
    ) -> String {
        with(&self.link(rest), name, &value.to_string())
    }

    /// What every form that changes something holds: it stands right behind `<form …>`.
    pub(crate) fn hidden(&self) -> Html {
        let mut fields = text::hidden("csrf", &self.csrf);
        fields += &text::hidden("back", &self.here);
        if let Some(user) = &self.user {
            fields += &text::hidden("user", user);
        }
        Html(fields)
    }

    /// What every form that asks for something holds.
    pub(crate) fn kept(&self) -> Html {
        Html(self.user.as_ref().map(|user| text::hidden("user", user)).unwrap_or_default())
    }

    /// A time as people say it, with the exact one behind it.
    pub(crate) fn when(&self, at: &Timestamp) -> Html {
        text::time(*at, self.now, &self.zone)
    }

    /// A time that may be missing.
    pub(crate) fn when_known(&self, at: &Option<Timestamp>) -> Html {
        at.as_ref().map_or_else(|| Html("–".to_owned()), |at| self.when(at))
    }

    /// The time of day.
    pub(crate) fn hour(&self, at: &Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%H:%M").to_string()
    }

    /// Date and time to the minute.
    pub(crate) fn minute(&self, at: &Timestamp) -> String {
        clock::minute(*at, &self.zone)
    }
}

impl Theme {
    /// As the cookie says it.
    pub(crate) fn parse(text: &str) -> Theme {
        match text {
            "light" => Theme::Light,
            "dark" => Theme::Dark,
            _ => Theme::System,
        }
    }

    /// As the cookie says it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// The one that a click on the button chooses.
    pub(crate) fn next(self) -> Theme {
        match self {
            Theme::System => Theme::Dark,
            Theme::Dark => Theme::Light,
            Theme::Light => Theme::System,
        }
    }
}

/// An address with one more thing after its `?`.
pub(crate) fn with(address: &str, name: &str, value: &str) -> String {
    let (address, place) = match address.split_once('#') {
        Some((address, place)) => (address, format!("#{place}")),
        None => (address, String::new()),
    };
    let mark = if address.contains('?') { '&' } else { '?' };
    let mut pair = url::form_urlencoded::Serializer::new(String::new());
    pair.append_pair(name, value);
    format!("{address}{mark}{}{place}", pair.finish())
}

/// Names and values as forms and addresses write them.
pub(crate) fn pairs(text: &[u8]) -> Vec<(String, String)> {
    url::form_urlencoded::parse(text).into_owned().collect()
}

/// The value of a cookie.
pub(crate) fn cookie<'a>(cookies: &'a str, name: &str) -> Option<&'a str> {
    let parts = cookies.split(';').filter_map(|part| part.trim().split_once('='));
    parts.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn find<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(query: &str) -> Visit {
        let sender = Sender {
            path: "/p/work/facts",
            query: Some(query),
            accept: None,
            cookies: "theme=dark; hermes=abc",
            is_fragment: false,
        };
        Visit::new(&sender, vec![("profile".to_owned(), "work".to_owned())])
    }

    #[test]
    fn an_address_keeps_what_it_asks_for_and_loses_what_was_said_once() {
        let visit = visit("q=tea+%26+milk&done=77&offset=50");
        assert_eq!(visit.here(), "/p/work/facts?q=tea+%26+milk&offset=50");
        assert_eq!(
            visit.here_with(&[("offset", ""), ("sort", "used")]),
            "/p/work/facts?q=tea+%26+milk&sort=used"
        );
        assert_eq!((visit.profile.as_str(), visit.theme), ("work", Theme::Dark));
    }

    #[test]
    fn a_deed_leads_back_to_pages_of_ours_alone() {
        let mut visit = visit("");
        for foreign in
            ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
        {
            visit.form = vec![("back".to_owned(), foreign.to_owned())];
            assert_eq!(visit.back(), "/p/work/facts");
        }
        visit.form = vec![("back".to_owned(), "/p/work/?x=1".to_owned())];
        assert_eq!(visit.back(), "/p/work/?x=1");
    }
}
