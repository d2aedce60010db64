//! Secrets in what is recorded: a name stands in their place in the memory, the transcript keeps them, and no message is
//! recorded twice because of that.
#![expect(clippy::print_stdout, reason = "the figures of a run are read by people")]

#[path = "../../../hermes-home/tests/secrets/made.rs"]
#[expect(dead_code, reason = "the other half is for the measurement")]
mod made;
#[path = "../../../hermes-home/tests/secrets/random.rs"]
mod random;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_home::redaction::{self, Policy};
use hermes_memory::catch_up;
use hermes_memory::chunk::Vectors;
use hermes_memory::record::turn::{
    self, Caller, Places, RecordedTurn, Settings, Turn, TurnMessage,
};
use hermes_memory::record::{self};
use hermes_memory::transfer::{self, ExportSettings};
use hermes_store::memory::{Admin, Memory, RecentFilter, compare_memory};
use hermes_store::rot::HighWater;
use hermes_store::sessions::{SessionStore, Window};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{change, memory, now, owner};
use made::PREFIXED;
use random::Random;

const WAIT: Duration = Duration::from_secs(5);
const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";

struct Place {
    folder: TempDir,
    store: Memory,
}

impl Place {
    fn new() -> Place {
        let (folder, store) = memory();
        SessionStore::create(&folder.path().join("state.db")).unwrap();
        Place { folder, store }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sessions(&self, name: &str) -> SessionStore {
        let mut sessions = SessionStore::open(&self.path(name), Access::Write, WAIT).unwrap();
        sessions.keep_mark(&HighWater::at(self.path("high-water"))).unwrap();
        sessions
    }

    fn with<T>(
        &mut self,
        secrets: Policy,
        deed: impl FnOnce(&Path, &mut Memory, &Settings<'_>) -> T,
    ) -> T {
        let settings = Settings {
            zone: &TimeZone::UTC,
            now: now(),
            vectors: Vectors::Now,
            random: [1, 2, 3],
            secrets,
            transcript_note: &self.folder.path().join("transcript.json"),
        };
        deed(self.folder.path(), &mut self.store, &settings)
    }

    fn say(&mut self, secrets: Policy, session: &str, said: &[(&str, &str)]) -> RecordedTurn {
        let messages = said.iter().map(|(role, text)| TurnMessage::text(role, text)).collect();
        self.record(secrets, session, messages)
    }

    fn record(
        &mut self,
        secrets: Policy,
        session: &str,
        messages: Vec<TurnMessage>,
    ) -> RecordedTurn {
        let mut sessions = self.sessions("state.db");
        let turn = Turn {
            session_id: Some(session.to_owned()),
            channel: "cli".to_owned(),
            identity: None,
            user: None,
            agent: None,
            project: None,
            messages,
            from: Caller::OurOwn,
            ended: false,
        };
        self.with(secrets, |_, store, settings| {
            turn::turn(Places { sessions: Some(&mut sessions), store }, &turn, settings).unwrap()
        })
    }

    /// Takes in what a transcript has that the memory lacks; returns how many messages came.
    fn catch_up(&mut self, name: &str, secrets: Policy) -> u64 {
        let mut sessions = self.sessions(name);
        self.with(secrets, |folder, store, settings| {
            let spool = folder.join("spool");
            catch_up::catch_up(Some(&mut sessions), store, &spool, settings).unwrap().added
        })
    }

    fn texts(&self) -> Vec<String> {
        let filter = RecentFilter { limit: 1_000, ..RecentFilter::default() };
        let mut episodes = self.store.recent_episodes(owner(), &filter).unwrap();
        episodes.reverse();
        let messages =
            episodes.iter().flat_map(|episode| self.store.messages_of(owner(), episode).unwrap());
        messages.map(|message| message.text).collect()
    }

    fn redact(&mut self) -> u64 {
        let chunker = |text: &hermes_store::memory::PortableText<'_>| {
            transfer::chunks_of(text, &TimeZone::UTC, Vectors::Now)
        };
        let counts = self.store.rewrite_texts(Admin, &rewritten, &chunker, change()).unwrap();
        counts.values().sum()
    }

    /// Whether a word stands anywhere in a file or its log.
    fn has_bytes(&self, file: &str, word: &str) -> bool {
        [file.to_owned(), format!("{file}-wal")].iter().any(|name| {
            let bytes = fs::read(self.path(name)).unwrap_or_default();
            bytes.windows(word.len()).any(|window| window == word.as_bytes())
        })
    }
}

fn rewritten(text: &str) -> Option<String> {
    match redaction::redact(text) {
        std::borrow::Cow::Owned(clean) => Some(clean),
        std::borrow::Cow::Borrowed(_) => None,
    }
}

#[test]
fn the_memory_has_a_name_in_place_of_a_secret_and_the_transcript_what_was_said() {
    let mut place = Place::new();
    let said = format!("use {TOKEN} for the deploy");
    let mut call = TurnMessage::text("assistant", "I use it.");
    let arguments = json!({"token": "correct9horse1battery", "host": "db"});
    call.tool_calls = Some(json!([{"id": "a", "name": "deploy", "input": arguments}]));
    let mut answer = TurnMessage::text("tool", "password=hunter2222");
    answer.tool_call_id = Some("a".to_owned());
    let messages = vec![TurnMessage::text("user", &said), call, answer];
    assert_eq!(place.record(Policy::Redact, "monday", messages).recorded.added, 3);
    assert_eq!(
        place.texts(),
        ["use [secret: github-token] for the deploy", "I use it.", "password=[secret: password]"]
    );
    for secret in [TOKEN, "hunter2222", "correct9horse1battery"] {
        assert!(!place.has_bytes("memory.db", secret), "{secret}");
    }
    let sessions = place.sessions("state.db");
    let id = sessions.find("monday").unwrap();
    assert_eq!(sessions.messages(&id, Window::First(1)).unwrap()[0].text, said);
}

#[test]
fn a_message_is_known_again_whatever_became_of_its_secret() {
    let mut place = Place::new();
    place.say(Policy::Keep, "old", &[("user", &format!("old {TOKEN}")), ("assistant", "yes")]);
    place.say(Policy::Redact, "new", &[("user", &format!("new {TOKEN}")), ("assistant", "no")]);
    assert_eq!(place.texts().len(), 4);
    for policy in [Policy::Redact, Policy::Keep] {
        assert_eq!(place.catch_up("state.db", policy), 0, "{policy:?}");
    }
    // The same transcript under another name is another database: it is compared by words.
    let copy = |place: &Place, name: &str| {
        drop(place.sessions("state.db"));
        fs::copy(place.path("state.db"), place.path(name)).unwrap();
    };
    copy(&place, "copy.db");
    assert_eq!(place.catch_up("copy.db", Policy::Redact), 0);
    assert_eq!(place.redact(), 1, "the message that was recorded in clear");
    assert!(!place.has_bytes("memory.db", TOKEN));
    for policy in [Policy::Redact, Policy::Keep] {
        assert_eq!(place.catch_up("state.db", policy), 0, "{policy:?}");
    }
    assert_eq!(place.sessions("state.db").rewrite_messages(&rewritten).unwrap(), 2);
    assert!(!place.has_bytes("state.db", TOKEN));
    copy(&place, "redacted.db");
    for name in ["state.db", "redacted.db"] {
        assert_eq!(place.catch_up(name, Policy::Redact), 0, "{name}");
    }
    assert_eq!(place.texts().len(), 4);
}

#[test]
fn a_memory_is_whole_after_its_secrets_were_redacted() {
    let mut place = Place::new();
    let mut random = Random::new(5);
    let mut secrets = Vec::new();
    for (number, maker) in PREFIXED.iter().enumerate() {
        let secret = (maker.make)(&mut random);
        let said = format!("the rosebush key {number} is {secret} for the garden");
        place.say(Policy::Keep, "keys", &[("user", &said), ("assistant", "noted")]);
        secrets.push(secret);
    }
    let count = place.store.count_rewrites(Admin, &rewritten).unwrap();
    assert_eq!(count.get("message").copied(), Some(PREFIXED.len() as u64));
    assert!(place.redact() >= PREFIXED.len() as u64);
    assert_eq!(place.redact(), 0, "nothing is left");
    for secret in &secrets {
        assert!(!place.has_bytes("memory.db", &secret[..secret.len().min(40)]), "{secret}");
    }
    assert_eq!(place.store.check_memory(Admin).unwrap(), []);
    let compared = compare_memory(&place.path("memory.db"), WAIT).unwrap();
    assert!(compared.rows > 0 && compared.differing.is_empty(), "{:?}", compared.differing);
    let (texts, marked) = (place.texts(), |text: &String| text.contains("[secret: "));
    assert_eq!(texts.iter().filter(|text| marked(text)).count(), PREFIXED.len());
    let mut sessions = place.sessions("state.db");
    assert_eq!(sessions.rewrite_messages(&rewritten).unwrap(), PREFIXED.len() as u64);
    assert_eq!(sessions.count_rewrites(&rewritten).unwrap(), 0);
    for secret in &secrets {
        assert!(!place.has_bytes("state.db", &secret[..secret.len().min(40)]), "{secret}");
    }
}

#[test]
fn a_message_with_a_secret_is_refused_where_the_settings_say_so() {
    let mut place = Place::new();
    let said = [("user", "my password is hunter2222"), ("assistant", "I forget it at once")];
    let told = place.say(Policy::Refuse, "monday", &said);
    assert_eq!((told.refused, told.recorded.added), (1, 1));
    assert_eq!(place.texts(), ["I forget it at once"]);
    let line = json!({"session_id": "s", "role": "user", "text": format!("it is {TOKEN}")});
    let settings = record::Settings {
        source: "test",
        scope: owner(),
        zone: &TimeZone::UTC,
        now: now(),
        vectors: Vectors::Later,
        secrets: Policy::Refuse,
    };
    let mut lines = format!("{line}\n");
    lines.push_str(&json!({"session_id": "s", "role": "user", "text": "plain"}).to_string());
    let report =
        record::record(&mut place.store, &mut lines.as_bytes(), &settings, &mut |_| {}).unwrap();
    assert_eq!((report.added, report.problems.len()), (1, 1));
    assert!(report.problems[0].reason.contains("github-token"), "{:?}", report.problems);
}

#[test]
fn a_redacted_export_of_a_memory_that_kept_secrets_has_none() {
    let mut place = Place::new();
    let mut random = Random::new(31);
    let mut secrets = Vec::new();
    for maker in PREFIXED {
        let secret = (maker.make)(&mut random);
        place.say(
            Policy::Keep,
            "keys",
            &[("user", &format!("key: {secret}")), ("assistant", "ok")],
        );
        secrets.push(secret);
    }
    let mut written = Vec::new();
    let settings = ExportSettings {
        made_by: "test",
        now: now(),
        user: None,
        since: None,
        sections: None,
        redact: true,
    };
    transfer::export(&place.store, &mut written, &settings, &mut |_, _| {}).unwrap();
    let text = String::from_utf8(written).unwrap();
    let left: Vec<&String> =
        secrets.iter().filter(|secret| text.contains(&secret[secret.len() - 12..])).collect();
    println!("{} secrets exported, {} left", secrets.len(), left.len());
    assert!(left.is_empty(), "{left:?}");
}
