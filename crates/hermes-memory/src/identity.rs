//! Who is talking: which user an identity of a channel belongs to.

use std::fmt::Write;

use hermes_home::UserId;
use hermes_home::config::UsersMode;
use hermes_store::memory::{Admin, Change, Chat, Identity, Memory, Scope, UserNumber};
use hermes_store::sessions::COMMAND_LINE;
use jiff::tz::TimeZone;
use sha2::{Digest, Sha256};

use crate::Result;

/// Somebody as a channel knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Who<'a> {
    /// The channel.
    pub channel: &'a str,
    /// Their id there.
    pub native_id: &'a str,
    /// Whether they speak alone with the agent or in a group.
    pub chat: Chat,
}

impl<'a> Who<'a> {
    /// A user who is known by name.
    pub(crate) fn named(name: &'a str) -> Who<'a> {
        Who { channel: COMMAND_LINE, native_id: name, chat: Chat::Direct }
    }
}

/// Whose memory somebody's words go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// To this user's: the identity is linked, or nobody was named.
    User(UserNumber),
    /// To the user of this name, who is made if need be; who it was is noted.
    OwnUser(String),
    /// To the user whom somebody at the command line named.
    Named(String),
}

/// What is wrong with the id of somebody, or with the name of a channel, if it can be none.
pub fn fault(text: &str) -> Option<&'static str> {
    match text.chars().any(char::is_control) {
        _ if text.trim().is_empty() => Some("is empty"),
        true => Some("contains a line break or another control character"),
        false => None,
    }
}

/// Whose memory it is; `linked` is the user the identity is linked to. Nobody is the owner because nobody else is known:
/// who writes to a bot may be anybody.
pub fn decide(who: Option<Who<'_>>, linked: Option<UserNumber>) -> Decision {
    let Some(who) = who else { return Decision::User(UserNumber::OWNER) };
    match linked {
        Some(user) => Decision::User(user),
        None if who.channel == COMMAND_LINE && who.native_id.parse::<UserId>().is_ok() => {
            Decision::Named(who.native_id.to_owned())
        }
        None => Decision::OwnUser(name_of(who.channel, who.native_id)),
    }
}

/// The scope that somebody's words are recorded in; an unlinked identity is noted, a new user made.
pub fn resolve(store: &mut Memory, who: Option<Who<'_>>, change: Change<'_>) -> Result<Scope> {
    let linked = linked(store, who)?;
    let user = match decide(who, linked) {
        Decision::User(user) => return Ok(Scope::of(user)),
        Decision::Named(name) => return Ok(Scope::of(store.user_or_new(&name, change)?)),
        Decision::OwnUser(name) => {
            let name = standing_for(store, &name)?;
            store.user_or_new(&name, change)?
        }
    };
    if let Some(who) = who {
        let identity = Identity {
            channel: who.channel.to_owned(),
            native_id: who.native_id.to_owned(),
            chat: who.chat,
            user,
            at: change.at,
        };
        store.note_identity(&identity, change.at)?;
    }
    Ok(Scope::of(user))
}

/// The same without noting or making anything; none if they would be a new user.
pub fn find(store: &Memory, who: Option<Who<'_>>) -> Result<Option<Scope>> {
    Ok(match decide(who, linked(store, who)?) {
        Decision::User(user) => Some(Scope::of(user)),
        Decision::OwnUser(name) => {
            let name = standing_for(store, &name)?;
            store.user(&name)?.map(|user| Scope::of(user.number))
        }
        Decision::Named(name) => store.user(&name)?.map(|user| Scope::of(user.number)),
    })
}

/// The name of the user who stands for an identity that is linked to nobody. One that was merged into somebody, and was
/// unlinked since, leads to nobody's memory but a new one.
fn standing_for(store: &Memory, name: &str) -> Result<String> {
    let mut free = name.to_owned();
    let mut number = 2;
    while store.user(&free)?.is_some_and(|user| user.name != free) {
        free = format!("{name}+n{number}");
        number += 1;
    }
    Ok(free)
}

/// Whose things somebody may recall. Where one person talks to the agent, an identity that nobody linked is nobody:
/// what is shared is all they are told. Where several do, everybody has their own.
pub fn reader(store: &Memory, mode: UsersMode, who: Who<'_>) -> Result<Scope> {
    let nobody = Scope::of(UserNumber::SHARED);
    match (decide(Some(who), linked(store, Some(who))?), mode) {
        (Decision::OwnUser(_), UsersMode::Single) => Ok(nobody),
        _ => Ok(find(store, Some(who))?.unwrap_or(nobody)),
    }
}

/// The zone a user lives in, else the given one.
pub fn zone_of(store: &Memory, user: UserNumber, otherwise: &TimeZone) -> Result<TimeZone> {
    let users = store.users(Admin)?;
    let said = users.into_iter().find(|one| one.number == user).and_then(|user| user.timezone);
    Ok(said.and_then(|name| TimeZone::get(&name).ok()).unwrap_or_else(|| otherwise.clone()))
}

/// Every identity that is linked to nobody, with the command that links it.
pub fn to_link(store: &Memory) -> Result<Vec<(Identity, String)>> {
    let users = store.users(Admin)?;
    let mut found = Vec::new();
    for identity in store.unlinked_identities(Admin)? {
        let user = users.iter().find(|user| user.number == identity.user);
        let name = user.map_or("NAME", |user| user.name.as_str());
        let command = link_command(&identity.channel, &identity.native_id, name);
        found.push((identity, command));
    }
    Ok(found)
}

/// The command that says which user an identity is.
pub fn link_command(channel: &str, native_id: &str, user: &str) -> String {
    format!("hermes user link {}", [channel, native_id, user].map(shell_word).join(" "))
}

/// The name of the user that an identity is until it is linked: no two identities have the same one.
pub fn name_of(channel: &str, native_id: &str) -> String {
    let name = format!("{}-{}", escaped(channel, false), escaped(native_id, true));
    if name.parse::<UserId>().is_ok() && !name.starts_with(HASHED) {
        return name;
    }
    let mut hash = Sha256::new().chain_update(channel.len().to_le_bytes());
    hash.update(channel);
    hash.update(native_id);
    let mut name = HASHED.to_owned();
    for byte in hash.finalize().iter().take(16) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

/// How names begin that are hashes, because what they stand for is no name.
const HASHED: &str = "id-";

fn linked(store: &Memory, who: Option<Who<'_>>) -> Result<Option<UserNumber>> {
    match who {
        None => Ok(None),
        Some(who) => Ok(store.user_of_identity(who.channel, who.native_id)?),
    }
}

/// A text as part of a name: `+` and two digits for every byte that is not allowed.
fn escaped(text: &str, keeps_dash: bool) -> String {
    let mut name = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'-' if keeps_dash => name.push('-'),
            b'_' | b'.' | b'@' => name.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => name.push(char::from(byte)),
            _ => {
                let _ = write!(name, "+{byte:02x}");
            }
        }
    }
    name
}

/// A text as one word of a shell.
fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.@+:/".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn who(chat: Chat) -> Option<Who<'static>> {
        Some(Who { channel: "telegram", native_id: "42", chat })
    }

    #[test]
    fn nobody_named_is_the_owner_and_a_linked_identity_its_user() {
        assert_eq!(decide(None, None), Decision::User(UserNumber::OWNER));
        for chat in [Chat::Direct, Chat::Group] {
            let linked = Some(UserNumber::new(7));
            assert_eq!(decide(who(chat), linked), Decision::User(UserNumber::new(7)));
        }
    }

    #[test]
    fn an_identity_that_nobody_linked_is_never_the_owner() {
        let own = Decision::OwnUser("telegram-42".to_owned());
        assert_eq!(decide(who(Chat::Direct), None), own);
        assert_eq!(decide(who(Chat::Group), None), own);
    }

    #[test]
    fn on_the_command_line_an_id_is_the_name_of_a_user() {
        let ana = Some(Who { channel: "cli", native_id: "ana", chat: Chat::Direct });
        assert_eq!(decide(ana, None), Decision::Named("ana".to_owned()));
        let odd = Some(Who { channel: "cli", native_id: "a/b", chat: Chat::Direct });
        assert_eq!(decide(odd, None), Decision::OwnUser(name_of("cli", "a/b")));
    }

    #[test]
    fn an_id_says_something_that_can_be_read() {
        assert!(["", " ", "a\nb", "\u{1f}ana"].iter().all(|id| fault(id).is_some()));
        assert!(["42", "josé", "@ana:example.org"].iter().all(|id| fault(id).is_none()));
    }

    #[test]
    fn names_are_readable_where_they_can_be() {
        assert_eq!(name_of("discord", "c-1"), "discord-c-1");
        assert_eq!(name_of("email", "ana@example.org"), "email-ana@example.org");
        assert_eq!(name_of("my chat", "a/b"), "my+20chat-a+2fb");
        assert!(name_of("", "x").starts_with("id-"));
        assert!(name_of("id", "x").starts_with("id-") && name_of("id", "x") != "id-x");
        assert!(name_of("telegram", &"9".repeat(300)).starts_with("id-"));
    }

    #[test]
    fn a_command_can_be_pasted() {
        assert_eq!(shell_word("c-1"), "c-1");
        assert_eq!(shell_word("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(shell_word("-x"), "'-x'");
    }

    proptest! {
        #[test]
        fn no_two_identities_have_the_same_name(
            a in any::<(String, String)>(), b in any::<(String, String)>(),
        ) {
            let names = (name_of(&a.0, &a.1), name_of(&b.0, &b.1));
            prop_assert_eq!(names.0 == names.1, a == b);
            prop_assert!(names.0.parse::<UserId>().is_ok(), "{}", names.0);
        }

        #[test]
        fn near_names_differ(a in "[-+a2d]{0,5}", b in "[-+a2d]{0,5}", c in "[-+a2d]{0,5}", d in "[-+a2d]{0,5}") {
            prop_assert_eq!(name_of(&a, &b) == name_of(&c, &d), (a, b) == (c, d));
        }
    }
}
