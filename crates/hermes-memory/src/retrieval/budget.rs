//! Which items fit into the budget. A pure function.

use hermes_home::tokens;

use super::merge::is_always_shown;
use super::{Context, Dropped, Filled, Item, Section, render};
use crate::task::TaskType;

/// How much there is room for, or how much something takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// In tokens.
    pub tokens: usize,
    /// In characters.
    pub characters: usize,
}

impl Size {
    /// So many tokens, whatever characters they have.
    pub fn of_tokens(tokens: usize) -> Size {
        Size { tokens, characters: usize::MAX }
    }

    /// What a text takes.
    pub fn of_text(text: &str) -> Size {
        Size { tokens: tokens::estimate(text), characters: text.chars().count() }
    }

    /// What is left of it when something was taken away.
    pub fn without(self, taken: Size) -> Size {
        let characters = match self.characters {
            usize::MAX => usize::MAX,
            characters => characters.saturating_sub(taken.characters),
        };
        Size { tokens: self.tokens.saturating_sub(taken.tokens), characters }
    }

    /// Both together.
    pub fn with(self, other: Size) -> Size {
        let characters = self.characters.saturating_add(other.characters);
        Size { tokens: self.tokens.saturating_add(other.tokens), characters }
    }

    fn fits_into(self, room: Size) -> bool {
        self.tokens <= room.tokens && self.characters <= room.characters
    }
}

/// What a section may take of the room that the files leave, in hundredths. What it does not need
/// goes to the others.
fn share(section: Section) -> usize {
    match section {
        Section::Files => 100,
        Section::Facts => 40,
        Section::Procedures => 20,
        Section::Events => 20,
        Section::Episodes => 60,
    }
}

/// Takes the best items that fit, section by section, and says of each other one why it was left
/// out. The items come best first. An item is shown whole or not at all, except that an episode can
/// shrink to the part that belongs to the task.
pub fn fit(ranked: Vec<Item>, room: Size) -> Context {
    let mut filling = Filling::new(room);
    let (always, rest): (Vec<_>, Vec<_>) = ranked.into_iter().partition(is_always_shown);
    // What is always shown comes first, so that no long find can push it out.
    for section in Section::ALL {
        filling.add_section(section, &always);
        filling.note_room_after_files(section);
    }
    for section in Section::ALL {
        filling.add_section(section, &rest);
    }
    filling.add_what_others_left();
    filling.finish()
}

/// A context that is being filled.
struct Filling {
    room: Size,
    used: Size,
    room_after_files: usize,
    sections: Vec<Filled>,
    over_share: Vec<Item>,
    dropped: Vec<Dropped>,
}

impl Filling {
    fn new(room: Size) -> Filling {
        let sections = Section::ALL.map(|section| Filled {
            section,
            title: section.title(),
            tokens: 0,
            items: Vec::new(),
        });
        Filling {
            room,
            used: Size { tokens: 0, characters: 0 },
            room_after_files: room.tokens,
            sections: sections.into(),
            over_share: Vec::new(),
            dropped: Vec::new(),
        }
    }

    fn note_room_after_files(&mut self, section: Section) {
        if section == Section::Files {
            self.room_after_files = self.room.without(self.used).tokens;
        }
    }

    fn add_section(&mut self, section: Section, items: &[Item]) {
        for item in items.iter().filter(|item| item.section == section) {
            let share = self.room_after_files.saturating_mul(share(section)) / 100;
            if let Some(item) = self.add_within(item.clone(), share) {
                self.over_share.push(item);
            }
        }
    }

    /// Adds an item if it fits, in its shorter form if need be; else gives it back.
    fn add_within(&mut self, item: Item, share: usize) -> Option<Item> {
        if self.cost(&item, share).is_some() {
            self.add(item);
            return None;
        }
        match shorter(&item) {
            Some(short) if self.cost(&short, share).is_some() => self.add(short),
            _ => return Some(item),
        }
        None
    }

    /// What an item would add, with the headings it would bring; none if that is too much.
    fn cost(&self, item: &Item, share: usize) -> Option<Size> {
        let section = self.sections.iter().find(|filled| filled.section == item.section)?;
        let item = self.size_of(item);
        let cost = match section.items.is_empty() {
            true => item.with(render::heading_size(section.title)),
            false => item,
        };
        let used = self.used_with_opening().with(cost);
        let fits = used.fits_into(self.room) && section.tokens + cost.tokens <= share;
        fits.then_some(cost)
    }

    /// What an item takes; characters are counted only where there is a limit for them.
    fn size_of(&self, item: &Item) -> Size {
        let characters = match self.room.characters {
            usize::MAX => 0,
            _ => render::item(item).chars().count(),
        };
        Size { tokens: item.tokens, characters }
    }

    /// What is used once there is anything at all.
    fn used_with_opening(&self) -> Size {
        if self.used.tokens == 0 { render::frame_size() } else { self.used }
    }

    fn add(&mut self, item: Item) {
        let Some(cost) = self.cost(&item, usize::MAX) else { return };
        self.used = self.used_with_opening().with(cost);
        let filled = self.sections.iter_mut().find(|filled| filled.section == item.section);
        if let Some(filled) = filled {
            filled.tokens += cost.tokens;
            filled.items.push(item);
        }
    }

    /// What was over the share of its section may use what other sections left.
    fn add_what_others_left(&mut self) {
        for item in std::mem::take(&mut self.over_share) {
            let left = self.room.without(self.used);
            if let Some(item) = self.add_within(item, usize::MAX) {
                let dropped = match self.size_of(&item) {
                    size if size.characters > left.characters => {
                        format!(
                            "needs {} characters, {} are left",
                            size.characters, left.characters
                        )
                    }
                    size => format!("needs {} tokens, {} are left", size.tokens, left.tokens),
                };
                self.dropped.push(Dropped { item, dropped });
            }
        }
    }

    fn finish(mut self) -> Context {
        self.sections.retain(|filled| !filled.items.is_empty());
        for filled in &mut self.sections {
            if filled.section != Section::Files {
                filled.items.sort_by(|a, b| b.score.total_cmp(&a.score));
            }
        }
        self.dropped.sort_by(|a, b| b.item.score.total_cmp(&a.item.score));
        Context {
            sections: self.sections,
            dropped: self.dropped,
            tokens: self.used.tokens,
            budget: self.room.tokens,
            task_type: TaskType::General,
            names: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// The item with only the part that belongs to the task.
fn shorter(item: &Item) -> Option<Item> {
    let text = item.short.clone()?;
    let reason = format!("{}; trimmed to fit", item.reason);
    let mut short = Item { text, short: None, reason, ..item.clone() };
    short.tokens = tokens::estimate(&render::item(&short));
    (short.tokens < item.tokens).then_some(short)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::retrieval::Pass;

    fn item(name: &str, section: Section, text: &str, score: f64) -> Item {
        let mut item = Item {
            name: name.to_owned(),
            section,
            head: "8 May 2023".to_owned(),
            text: text.to_owned(),
            tokens: 0,
            score,
            parts: Vec::new(),
            relevance: None,
            evidence: Vec::new(),
            passes: vec![Pass::Semantic],
            reason: "test".to_owned(),
            at: None,
            key: None,
            short: None,
            trust: hermes_store::memory::Trust::User,
        };
        item.tokens = tokens::estimate(&render::item(&item));
        item
    }

    fn names(context: &Context) -> Vec<&str> {
        context.items().map(|item| item.name.as_str()).collect()
    }

    #[test]
    fn everything_is_kept_when_there_is_room() {
        let items =
            vec![item("fact:1", Section::Facts, "x", 0.9), item("a", Section::Files, "y", 1.0)];
        let context = fit(items, Size::of_tokens(1000));
        assert_eq!(names(&context), ["a", "fact:1"]);
        assert!(context.dropped.is_empty());
    }

    #[test]
    fn the_worst_is_left_out_and_says_why() {
        let long = "word ".repeat(60);
        let items: Vec<Item> = (0..5)
            .map(|n| item(&format!("fact:{n}"), Section::Facts, &long, 1.0 - n as f64 / 10.0))
            .collect();
        let context = fit(items, Size::of_tokens(200));
        assert_eq!(names(&context), ["fact:0", "fact:1"]);
        assert_eq!(context.dropped.len(), 3);
        assert!(context.dropped[0].dropped.contains("tokens"));
    }

    #[test]
    fn an_episode_shrinks_to_its_relevant_part() {
        let mut long = item("episode:1", Section::Episodes, &"word ".repeat(300), 0.9);
        long.short = Some("the part that matters".to_owned());
        let context = fit(vec![long], Size::of_tokens(120));
        assert_eq!(
            context.items().next().map(|item| item.text.as_str()),
            Some("the part that matters")
        );
        assert!(context.items().all(|item| item.reason.contains("trimmed")));
    }

    #[test]
    fn the_latest_conversations_are_not_pushed_out_by_long_finds() {
        let mut latest = item("episode:9", Section::Episodes, "hello", 0.1);
        latest.passes = vec![Pass::Recency];
        let long = item("episode:1", Section::Episodes, &"word ".repeat(100), 0.9);
        let context = fit(vec![long, latest], Size::of_tokens(150));
        assert_eq!(names(&context), ["episode:9"]);
    }

    #[test]
    fn a_budget_of_nothing_gives_nothing() {
        let context = fit(vec![item("fact:1", Section::Facts, "x", 0.9)], Size::of_tokens(0));
        assert_eq!((context.tokens, context.sections.len(), context.dropped.len()), (0, 0, 1));
        assert_eq!(render::text(&context), "");
    }

    #[test]
    fn what_is_cheap_in_tokens_and_long_in_characters_is_left_out_alone() {
        let ruled = format!("a table\n{}", "-".repeat(5_000));
        let items = vec![
            item("fact:1", Section::Facts, &ruled, 0.9),
            item("fact:2", Section::Facts, "x", 0.8),
        ];
        let room = Size { tokens: 1_000, characters: 2_000 };
        let context = fit(items, room);
        assert_eq!(names(&context), ["fact:2"]);
        assert!(context.dropped[0].dropped.contains("characters"), "{:?}", context.dropped);
    }

    fn any_item() -> impl Strategy<Value = Item> {
        let text = prop_oneof![any::<String>(), "[a-z \n]{0,400}"];
        (0..5_usize, text, any::<String>(), 0.0..1.0, any::<bool>(), any::<u16>()).prop_map(
            |(section, text, head, score, is_recent, number)| {
                let mut item = item(&format!("item:{number}"), Section::ALL[section], &text, score);
                item.head = head;
                item.short = Some(text.chars().take(20).collect());
                if is_recent {
                    item.passes = vec![Pass::Recency];
                }
                item.tokens = tokens::estimate(&render::item(&item));
                item
            },
        )
    }

    proptest! {
        #[test]
        fn a_context_never_costs_more_than_its_budget_and_loses_nothing(
            items in proptest::collection::vec(any_item(), 0..20), budget in 0..1500_usize,
            characters in prop_oneof![Just(usize::MAX), 0..4000_usize],
        ) {
            let count = items.len();
            let context = fit(items, Size { tokens: budget, characters });
            prop_assert!(context.tokens <= budget);
            prop_assert!(render::text(&context).chars().count() <= characters);
            prop_assert!(tokens::estimate(&render::text(&context)) <= context.tokens);
            prop_assert_eq!(context.items().count() + context.dropped.len(), count);
            prop_assert!(context.dropped.iter().all(|one| !one.dropped.is_empty()));
        }
    }
}
