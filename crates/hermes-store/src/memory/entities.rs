//! Names, the ways they are written, and what mentions them.

use std::collections::{HashMap, HashSet};

use rusqlite::params;

use super::{Memory, Outcome, audit};
use crate::memory::backend::{self, Connection, List, Many, OptionalExtension, Put};
use crate::memory::{Change, Entity, ItemKind, Scope, UserNumber};
use crate::{Error, Result};

/// A name has at most so many words.
const MOST_WORDS: usize = 4;
/// A name has at most so many pieces: words, CJK characters, punctuation marks.
const MOST_PIECES: usize = 12;

impl Memory {
    /// Adds another way to write a name; the name is made if it is new. Returns its number.
    pub fn add_alias(
        &mut self,
        scope: Scope,
        name: &str,
        alias: &str,
        change: Change<'_>,
    ) -> Result<i64> {
        self.write(scope, |transaction| {
            let entity = known_or_new(transaction, scope.user(), name, change)?;
            let folded = folded_name(alias)?;
            let owner = scope.user().get();
            match holder(transaction, scope.user(), &folded)? {
                Some((other, user)) if other != entity && user == scope.user() => {
                    merge(transaction, other, entity)?;
                }
                _ => {
                    transaction.put(&POINT_ALIAS, params![owner, folded, entity])?;
                }
            }
            let item = format!("entity:{entity}");
            let after = audit::hash_of(&folded);
            audit::append(transaction, change, "entity.alias", &item, None, Some(&after))?;
            Ok(entity)
        })
    }

    /// The names (own and shared) that occur in a text, by name or alias, whole words only.
    pub fn entities_in(&self, scope: Scope, text: &str) -> Result<Vec<Entity>> {
        let read = || -> backend::Result<_> {
            let mut seen = HashSet::new();
            let mut found = Vec::new();
            let folded = fold(text);
            let named = possible_names(&folded);
            let (user, list) = ([scope.user().get()], List::Words(&named));
            let ids: Vec<i64> =
                self.asking(scope).many_of(&IDS_OF_ALIASES, &user, list, |row| row.get(0))?;
            for id in ids.into_iter().filter(|id| seen.insert(*id)) {
                found.extend(by_id(self.asking(scope), scope, id)?);
            }
            Ok(found)
        };
        read().map_err(|source| self.failed(source))
    }

    /// The name, by name or alias.
    pub fn entity(&self, scope: Scope, name: &str) -> Result<Option<Entity>> {
        let read = || -> backend::Result<_> {
            match ids_of(self.asking(scope), scope.user(), &fold(name))?.first() {
                Some(id) => by_id(self.asking(scope), scope, *id),
                None => Ok(None),
            }
        };
        read().map_err(|source| self.failed(source))
    }

    /// The numbers of the things of one kind that mention a name, newest first.
    pub fn mentions(
        &self,
        scope: Scope,
        entity: &Entity,
        kind: ItemKind,
        limit: usize,
    ) -> Result<Vec<i64>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let read = || -> backend::Result<_> {
            self.asking(scope)
                .prepare_cached(mentions_sql(kind))?
                .query_map(params![entity.id, scope.user().get(), limit], |row| row.get(0))?
                .collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// Notes that a thing mentions names; they are made if they are new.
    #[expect(clippy::too_many_arguments, reason = "who, which thing, its names, by whom")]
    pub fn mention(
        &mut self,
        scope: Scope,
        kind: ItemKind,
        item: i64,
        names: &[String],
        change: Change<'_>,
    ) -> Result<()> {
        self.write(scope, |transaction| {
            let name = audit::item_name(kind, item);
            let owner: Option<i64> = transaction
                .prepare_cached(owner_sql(kind))?
                .query_row([item], |row| row.get(0))
                .optional()?;
            let Some(owner) = owner.map(UserNumber::new).filter(|owner| scope.may_read(*owner))
            else {
                return Err(Error::NoSuchItem { item: name }.into());
            };
            note(transaction, owner, (kind, item), names, change)?;
            audit::append(transaction, change, "entity.mention", &name, None, None)
        })
    }
}

/// Notes the names that a thing of `owner` mentions; new names become the owner's.
pub(super) fn note(
    transaction: &Connection,
    owner: UserNumber,
    (kind, item): (ItemKind, i64),
    names: &[String],
    change: Change<'_>,
) -> Outcome<()> {
    for name in names.iter().filter(|name| !fold(name).is_empty()) {
        let entity = known_or_new(transaction, owner, name, change)?;
        transaction.prepare_cached(ADD_MENTION)?.execute(params![entity, kind.number(), item])?;
    }
    Ok(())
}

/// Forgets what a thing mentions.
pub(super) fn forget_mentions(transaction: &Connection, kind: ItemKind, item: i64) -> Outcome<()> {
    transaction.prepare_cached(REMOVE_MENTIONS)?.execute([kind.number(), item])?;
    Ok(())
}

/// Forgets what a thing mentions, and every name that nothing else mentions.
pub(super) fn forget_names(transaction: &Connection, kind: ItemKind, item: i64) -> Outcome<()> {
    let names: Vec<i64> = transaction
        .prepare_cached(MENTIONED)?
        .query_map([kind.number(), item], |row| row.get(0))?
        .collect::<backend::Result<_>>()?;
    forget_mentions(transaction, kind, item)?;
    let remove_unused = || -> backend::Result<()> {
        for name in &names {
            let gone = transaction.prepare_cached(REMOVE_ALIASES_IF_UNUSED)?.execute([name])?;
            if gone > 0 {
                transaction.prepare_cached(REMOVE_NAME)?.execute([name])?;
            }
        }
        Ok(())
    };
    // A shared name may be mentioned by things of others, which a server does not let one user see.
    let mut done = Ok(());
    transaction.as_keeper(&mut || done = remove_unused());
    Ok(done?)
}

const MENTIONED: &str = "select entity from mention where kind = ?1 and item = ?2";
const REMOVE_ALIASES_IF_UNUSED: &str = "
    delete from entity_alias
    where entity = ?1 and not exists (select 1 from mention m where m.entity = ?1)";
const REMOVE_NAME: &str = "delete from entity where id = ?1";

/// The names that a thing mentions, as far as the scope may read them.
pub(super) fn names_of(
    connection: &Connection,
    scope: Scope,
    kind: ItemKind,
    item: i64,
) -> backend::Result<Vec<String>> {
    connection
        .prepare_cached(NAMES_OF_ITEM)?
        .query_map([kind.number(), item, scope.user().get()], |row| row.get(0))?
        .collect()
}

/// The same for many things at once.
pub(super) fn names_of_all(
    connection: &Connection,
    scope: Scope,
    kind: ItemKind,
    items: &[i64],
) -> backend::Result<HashMap<i64, Vec<String>>> {
    let asked = [kind.number(), scope.user().get()];
    let mut names: HashMap<i64, Vec<String>> = HashMap::new();
    connection.many(&NAMES_OF_ITEMS, &asked, List::Numbers(items), &mut |row| {
        names.entry(row.get(0)?).or_default().push(row.get(1)?);
        Ok(())
    })?;
    Ok(names)
}

/// A name as it is compared: lower case, with single spaces.
pub(super) fn fold(name: &str) -> String {
    let lower = name.to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn folded_name(name: &str) -> Outcome<String> {
    let folded = fold(name);
    if folded.is_empty() {
        let why = "it must contain at least one letter".to_owned();
        return Err(Error::ItemRefused { doing: "keep", item: "a name".into(), why }.into());
    }
    Ok(folded)
}

/// The owner's name, else the one everybody has, else a new one of the owner.
fn known_or_new(
    transaction: &Connection,
    owner: UserNumber,
    name: &str,
    change: Change<'_>,
) -> Outcome<i64> {
    let folded = folded_name(name)?;
    if let Some(id) = ids_of(transaction, owner, &folded)?.first() {
        return Ok(*id);
    }
    let at = change.at.as_millisecond();
    let id = transaction.insert(ADD_ENTITY, params![owner.get(), name.trim(), at])?;
    transaction.put(&POINT_ALIAS, params![owner.get(), folded, id])?;
    Ok(id)
}

/// The entity a user's own alias stands for, and whose that is.
fn holder(
    connection: &Connection,
    user: UserNumber,
    alias: &str,
) -> backend::Result<Option<(i64, UserNumber)>> {
    connection
        .prepare_cached(HOLDER)?
        .query_row(params![user.get(), alias], |row| {
            Ok((row.get(0)?, UserNumber::new(row.get(1)?)))
        })
        .optional()
}

/// Two names turned out to be the same: everything of the one becomes the other's.
pub(super) fn merge(transaction: &Connection, from: i64, into: i64) -> Outcome<()> {
    for step in [MOVE_MENTIONS, MOVE_ALIASES] {
        transaction.execute(step, [from, into])?;
    }
    for step in [DROP_MENTIONS, DROP_ENTITY] {
        transaction.execute(step, [from])?;
    }
    Ok(())
}

/// The entities an alias stands for: the user's own first, then everybody's.
fn ids_of(connection: &Connection, user: UserNumber, alias: &str) -> backend::Result<Vec<i64>> {
    connection
        .prepare_cached(IDS_OF_ALIAS)?
        .query_map(params![user.get(), alias], |row| row.get(0))?
        .collect()
}

fn by_id(connection: &Connection, scope: Scope, id: i64) -> backend::Result<Option<Entity>> {
    let user = scope.user().get();
    let found = connection
        .prepare_cached(BY_ID)?
        .query_row([id, user], |row| {
            Ok(Entity {
                id: row.get(0)?,
                user: UserNumber::new(row.get(1)?),
                name: row.get(2)?,
                kind: row.get(3)?,
                aliases: Vec::new(),
            })
        })
        .optional()?;
    let Some(mut entity) = found else { return Ok(None) };
    entity.aliases = connection
        .prepare_cached(ALIASES)?
        .query_map([id, user], |row| row.get(0))?
        .collect::<backend::Result<_>>()?;
    let own = fold(&entity.name);
    entity.aliases.retain(|alias| *alias != own);
    Ok(Some(entity))
}

/// Every run of whole words in a folded text that could be a name, in the order of the text.
fn possible_names(text: &str) -> Vec<&str> {
    let pieces = pieces(text);
    let mut names = Vec::new();
    for (first, (start, _)) in pieces.iter().enumerate() {
        for (_, end) in pieces[first..].iter().take(MOST_PIECES) {
            let name = &text[*start..*end];
            if name.matches(' ').count() >= MOST_WORDS {
                break;
            }
            if name.contains(char::is_alphanumeric) {
                names.push(name);
            }
        }
    }
    names
}

/// What a name can begin or end with: a word, a CJK character (they stand without spaces), a mark.
fn pieces(text: &str) -> Vec<(usize, usize)> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    let mut in_word = false;
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        let belongs_to_word = letter.is_alphanumeric() && !is_cjk(letter);
        match pieces.last_mut() {
            Some(last) if in_word && belongs_to_word => last.1 = end,
            _ if letter != ' ' => pieces.push((at, end)),
            _ => {}
        }
        in_word = belongs_to_word;
    }
    pieces
}

fn is_cjk(letter: char) -> bool {
    matches!(letter,
        '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

fn owner_sql(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Message => OWNER_OF_MESSAGE,
        ItemKind::Fact => "select user_id from fact where id = ?1",
        ItemKind::Procedure => "select user_id from procedure where id = ?1",
        ItemKind::Event => "select user_id from event where id = ?1",
        ItemKind::Summary => "select user_id from episode where id = ?1",
    }
}

fn mentions_sql(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Message => MESSAGES_THAT_MENTION,
        ItemKind::Fact => FACTS_THAT_MENTION,
        ItemKind::Procedure => PROCEDURES_THAT_MENTION,
        ItemKind::Event => EVENTS_THAT_MENTION,
        ItemKind::Summary => EPISODES_THAT_MENTION,
    }
}

const ADD_ENTITY: &str =
    "insert into entity (user_id, name, created_at) values (?1, ?2, ?3) returning id";
const POINT_ALIAS: Put = Put {
    change: "update entity_alias set entity = ?3 where user_id = ?1 and alias = ?2",
    add: "insert into entity_alias (user_id, alias, entity) values (?1, ?2, ?3)",
};
const ADD_MENTION: &str =
    "insert into mention (entity, kind, item) values (?1, ?2, ?3) on conflict do nothing";
const REMOVE_MENTIONS: &str = "delete from mention where kind = ?1 and item = ?2";
pub(super) const MOVE_MENTIONS: &str = "
    insert into mention (entity, kind, item)
    select ?2, kind, item from mention where entity = ?1
    on conflict do nothing";
const MOVE_ALIASES: &str = "update entity_alias set entity = ?2 where entity = ?1";
const DROP_MENTIONS: &str = "delete from mention where entity = ?1";
const DROP_ENTITY: &str = "delete from entity where id = ?1";
const HOLDER: &str = "
    select e.id, e.user_id from entity_alias a join entity e on e.id = a.entity
    where a.user_id = ?1 and a.alias = ?2";
const IDS_OF_ALIAS: &str = "
    select entity from entity_alias where user_id in (?1, 0) and alias = ?2 order by user_id desc";
// In the order of the names, one's own before what is shared.
const IDS_OF_ALIASES: Many = Many {
    each: IDS_OF_ALIAS,
    all: "
    select entity from entity_alias where user_id in (?1, 0) and alias = any (?2)
    order by array_position(?2, alias), user_id desc",
};
const BY_ID: &str =
    "select id, user_id, name, kind from entity where id = ?1 and user_id in (?2, 0)";
const ALIASES: &str = "
    select distinct alias from entity_alias
    where entity = ?1 and user_id in (?2, 0) order by alias";
const NAMES_OF_ITEM: &str = "
    select e.name from mention m join entity e on e.id = m.entity
    where m.kind = ?1 and m.item = ?2 and e.user_id in (?3, 0) order by e.id";
const NAMES_OF_ITEMS: Many = Many {
    each: "
    select m.item, e.name from mention m join entity e on e.id = m.entity
    where m.kind = ?1 and m.item = ?3 and e.user_id in (?2, 0) order by e.id",
    all: "
    select m.item, e.name from mention m join entity e on e.id = m.entity
    where m.kind = ?1 and m.item = any (?3) and e.user_id in (?2, 0) order by e.id",
};
const OWNER_OF_MESSAGE: &str = "
    select e.user_id from message m join episode e on e.id = m.episode where m.id = ?1";
const MESSAGES_THAT_MENTION: &str = "
    select m.item from mention m join entity n on n.id = m.entity
    join message t on t.id = m.item join episode e on e.id = t.episode
    where m.entity = ?1 and m.kind = 0 and e.user_id in (?2, 0) and n.user_id in (?2, 0)
      and e.retired_at is null and e.quarantined_at is null
    order by m.item desc limit ?3";
const FACTS_THAT_MENTION: &str = "
    select m.item from mention m join entity n on n.id = m.entity join fact i on i.id = m.item
    where m.entity = ?1 and m.kind = 1 and i.user_id in (?2, 0) and n.user_id in (?2, 0)
      and i.retired_at is null and i.quarantined_at is null
    order by m.item desc limit ?3";
const PROCEDURES_THAT_MENTION: &str = "
    select m.item from mention m join entity n on n.id = m.entity join procedure i on i.id = m.item
    where m.entity = ?1 and m.kind = 2 and i.user_id in (?2, 0) and n.user_id in (?2, 0)
      and i.retired_at is null and i.quarantined_at is null
    order by m.item desc limit ?3";
const EVENTS_THAT_MENTION: &str = "
    select m.item from mention m join entity n on n.id = m.entity join event i on i.id = m.item
    where m.entity = ?1 and m.kind = 3 and i.user_id in (?2, 0) and n.user_id in (?2, 0)
      and i.retired_at is null and i.quarantined_at is null
    order by m.item desc limit ?3";
const EPISODES_THAT_MENTION: &str = "
    select m.item from mention m join entity n on n.id = m.entity join episode e on e.id = m.item
    where m.entity = ?1 and m.kind = 4 and e.user_id in (?2, 0) and n.user_id in (?2, 0)
      and e.retired_at is null and e.quarantined_at is null
    order by m.item desc limit ?3";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_words_of_up_to_four_with_their_marks() {
        let found = possible_names("i met o'brien of the new york times in c++.");
        for name in ["o'brien", "new york times", "c++", "of the new york"] {
            assert!(found.contains(&name), "{name}");
        }
        for no_name in ["brie", "yor", "the new york times in", "+"] {
            assert!(!found.contains(&no_name), "{no_name}");
        }
    }

    #[test]
    fn names_in_scripts_without_spaces_are_found_inside() {
        let found = possible_names("我在東京工作");
        assert!(found.contains(&"東京"));
        assert_eq!(possible_names("東京tower")[0], "東");
        assert!(possible_names("東京tower").contains(&"東京tower"));
    }

    #[test]
    fn folding_keeps_the_words_and_nothing_else() {
        assert_eq!(fold("  New \t YORK\n"), "new york");
    }
}
