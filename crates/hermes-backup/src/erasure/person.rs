//! Everything of one person in a home: looked at, and erased for good.

use hermes_home::person::{self, ErasedFiles, Person};
use hermes_home::{Home, UserId, before_upgrade};
use hermes_store::memory::{Admin, Change, Choice, Forgotten, Known, Memory, UserNumber};
use hermes_store::sessions::{Owner, SessionFilter, SessionId, SessionStore, Whose};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use serde::{Deserialize, Serialize};

use crate::Result;

/// Where somebody is forgotten.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The home.
    pub home: &'a Home,
    /// Whether the sessions in a state.db of another program go too.
    pub agent_sessions: bool,
}

/// How much of a person went, or would go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erased {
    /// Episodes.
    pub episodes: u64,
    /// Messages in the memory.
    pub messages: u64,
    /// Facts that were theirs alone.
    pub facts: u64,
    /// Procedures.
    pub procedures: u64,
    /// Events.
    pub events: u64,
    /// Proposals.
    pub proposals: u64,
    /// Identities in channels.
    pub identities: u64,
    /// Sessions of state.db.
    pub sessions: u64,
    /// Messages of state.db.
    pub transcript_messages: u64,
    /// Sessions in a state.db of another program that stay, because it was not asked for.
    pub agent_sessions_left: u64,
    /// Files, by what they were and the SHA-256 of what they held.
    pub files: Vec<File>,
    /// Kept versions of those files.
    pub versions: u64,
    /// Turns that waited to be taken in.
    pub waiting_turns: u64,
    /// Copies of deleted sessions, and files as they were before an agent changed them.
    #[serde(default)]
    pub copies: u64,
}

impl File {
    /// One that is there and would go.
    fn seen(name: &str) -> File {
        File { what: person::what_it_is(name).to_owned(), bytes: 0, sha256: String::new() }
    }
}

/// A file that went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// What it was.
    pub what: String,
    /// How large it was.
    pub bytes: u64,
    /// The SHA-256 of what it held.
    pub sha256: String,
}

impl Erased {
    /// The same in one line.
    pub fn in_words(&self) -> String {
        let counts = [
            (self.facts, "facts"),
            (self.episodes, "episodes"),
            (self.messages, "messages"),
            (self.procedures, "procedures"),
            (self.events, "events"),
            (self.proposals, "proposals"),
            (self.identities, "identities"),
            (self.sessions, "sessions of the transcript"),
            (self.files.len() as u64, "files"),
            (self.versions, "stored versions"),
            (self.waiting_turns, "waiting turns"),
            (self.copies, "copies of sessions and changed files"),
        ];
        let named: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if named.is_empty() { "nothing but the name".to_owned() } else { named.join(", ") }
    }
}

/// What of a person is in a home; nothing is changed.
pub fn look(store: &Memory, place: &Place<'_>, user: UserNumber) -> Result<Erased> {
    let found = Found::of(store, place, user)?;
    let files = person::files(place.home, &found.person);
    let versions = person::kept_versions(place.home, &found.person)?.len() as u64;
    let counted = store.forget_plan(Admin, &Choice::User(user))?;
    let mut erased = found.counted(counted);
    erased.versions = versions;
    erased.files = files.iter().map(|(what, _)| File::seen(what)).collect();
    Ok(erased)
}

/// Erases everything of a person in a home. The memory goes last, since it says who they are: what was cut short is done
/// whole when it is begun again.
pub fn forget(
    store: &mut Memory,
    place: &Place<'_>,
    user: UserNumber,
    change: Change<'_>,
) -> Result<Erased> {
    let found = Found::of(store, place, user)?;
    before_upgrade::remove_all(place.home)?;
    let mut going: Vec<String> = found.known.sessions.clone();
    going.extend(found.sessions.iter().map(ToString::to_string));
    let files = person::erase(place.home, &found.person, &going)?;
    let mut transcript = 0;
    if !found.sessions.is_empty() {
        let mut sessions = SessionStore::open(&place.home.state_db(), Access::Write, DEFAULT_WAIT)?;
        transcript = sessions.erase(&found.sessions)?;
    }
    let erased: Vec<String> = found.sessions.iter().map(ToString::to_string).collect();
    let counted = store.forget_person(Admin, user, &erased, change)?;
    let mut all = found.counted(counted);
    let ErasedFiles { files, versions, waiting_turns, copies } = files;
    all.transcript_messages = transcript;
    all.versions = versions;
    all.waiting_turns = waiting_turns;
    all.copies = copies;
    all.files = files
        .into_iter()
        .map(|file| File { what: file.what, bytes: file.bytes, sha256: file.sha256 })
        .collect();
    Ok(all)
}

/// What there is of a person.
struct Found {
    known: Known,
    person: Person,
    /// The sessions of state.db that go.
    sessions: Vec<SessionId>,
    /// How many stay because they are another program's.
    left: u64,
}

impl Found {
    fn of(store: &Memory, place: &Place<'_>, user: UserNumber) -> Result<Found> {
        let known = store.known_by(Admin, user)?;
        let is_owner = user == UserNumber::OWNER;
        let every: Vec<_> =
            store.identities(Admin)?.into_iter().chain(store.unlinked_identities(Admin)?).collect();
        let identities: Vec<(String, String)> = every
            .iter()
            .filter(|one| one.user == user)
            .map(|one| (one.channel.clone(), one.native_id.clone()))
            .collect();
        let whose = match is_owner {
            false => {
                let mut names = known.names.iter();
                let first = Whose::named(names.next().map_or("", String::as_str));
                let named = names.fold(first, |whose, name| whose.and(name));
                identities.iter().fold(named, |whose, (channel, id)| whose.and_at(channel, id))
            }
            // The owner's are those that are nobody else's.
            true => {
                let others = store.users(Admin)?.into_iter().filter(|one| one.number != user);
                let named = others.fold(Whose::everybody_but(), |whose, one| whose.and(&one.name));
                let others = every.iter().filter(|one| one.user != user);
                others.fold(named, |whose, one| whose.and_at(&one.channel, &one.native_id))
            }
        };
        let ids = known.names.iter().skip(usize::from(is_owner));
        let ids: Vec<UserId> = ids.filter_map(|name| name.parse().ok()).collect();
        let person = Person { ids, is_owner, identities };
        let (sessions, left) = sessions(place, whose)?;
        Ok(Found { known, person, sessions, left })
    }

    fn counted(&self, memory: Forgotten) -> Erased {
        Erased {
            episodes: memory.episodes,
            messages: memory.messages,
            facts: memory.facts,
            procedures: memory.procedures,
            events: memory.events,
            proposals: memory.proposals,
            identities: self.person.identities.len() as u64,
            sessions: self.sessions.len() as u64,
            agent_sessions_left: self.left,
            ..Erased::default()
        }
    }
}

/// The sessions of state.db that go, and how many stay because the database is another program's.
fn sessions(place: &Place<'_>, whose: Whose) -> Result<(Vec<SessionId>, u64)> {
    let path = place.home.state_db();
    if !path.is_file() {
        return Ok((Vec::new(), 0));
    }
    let store = SessionStore::open(&path, Access::Read, DEFAULT_WAIT)?;
    let filter = SessionFilter {
        user: Some(whose),
        include_archived: true,
        include_hidden: true,
        ..SessionFilter::default()
    };
    let ids: Vec<SessionId> = store.list(&filter)?.into_iter().map(|one| one.id).collect();
    match store.layout().owner() == Owner::Ours || place.agent_sessions {
        true => Ok((ids, 0)),
        false => Ok((Vec::new(), ids.len() as u64)),
    }
}
