//! Secrets in a home: recorded as names, counted by doctor, taken out of both databases on request.

use crate::sandbox::Sandbox;

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
const OURS: &str = "hermes_00112233445566778899aabbccddeeff0011223344556677";

fn tell(sandbox: &Sandbox, session: &str, said: &str) {
    let turn = ["memory", "turn", "--session", session, "--user-text", said];
    sandbox.ok(&[&turn[..], &["--assistant-text", "Noted, the crane is ready."]].concat());
}

fn has_bytes(sandbox: &Sandbox, file: &str, word: &str) -> bool {
    [file.to_owned(), format!("{file}-wal")].iter().any(|name| {
        let bytes = std::fs::read(sandbox.path(name)).unwrap_or_default();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    })
}

#[test]
fn what_is_recorded_handed_out_and_found_has_names_in_place_of_secrets() {
    let sandbox = Sandbox::ready();
    tell(&sandbox, "harbour", &format!("the crane wants {TOKEN} and {OURS} on Monday"));
    sandbox.ok(&["memory", "fact", "add", &format!("The crane listens to {TOKEN}")]);
    sandbox.write("memories/MEMORY.md", format!("# Memory\n\n- the crane knows {OURS}\n"));
    let found = sandbox.ok(&["memory", "search", "crane on Monday"]);
    let context = sandbox.ok(&["memory", "context", "use the crane"]);
    let sessions = sandbox.ok(&["memory", "search", "crane", "--type", "sessions"]);
    let files = sandbox.ok(&["memory", "search", "crane", "--type", "files"]);
    let facts = sandbox.ok(&["memory", "fact", "list"]);
    for text in [&found, &context, &sessions, &files, &facts] {
        assert!(text.contains("[secret: "), "{text}");
        assert!(!text.contains(TOKEN) && !text.contains(OURS), "{text}");
    }
    assert!(!has_bytes(&sandbox, "memory.db", TOKEN) && !has_bytes(&sandbox, "memory.db", OURS));
    assert!(
        sandbox.ok(&["sessions", "show", "harbour"]).contains(TOKEN),
        "the transcript keeps it"
    );
    assert!(sandbox.read("memories/MEMORY.md").contains(OURS), "the file is the user's");
}

#[test]
fn doctor_counts_them_and_two_commands_take_them_out() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "recording.secrets", "keep"]);
    tell(&sandbox, "harbour", &format!("the crane wants {TOKEN} on Monday"));
    sandbox.ok(&["memory", "fact", "add", &format!("The crane listens to {TOKEN}")]);
    assert!(sandbox.ok(&["memory", "search", "crane"]).contains(TOKEN));
    let doctor = sandbox.ok(&["doctor"]);
    assert!(doctor.contains("1 message in state.db with secrets"), "{doctor}");
    sandbox.ok(&["config", "unset", "recording.secrets"]);
    let doctor = sandbox.ok(&["doctor"]);
    assert!(doctor.contains("hermes sessions redact"), "{doctor}");
    assert!(doctor.contains("hermes memory redact"), "{doctor}");
    for area in ["sessions", "memory"] {
        sandbox.ok(&[area, "redact"]);
        sandbox.ok(&[area, "redact", "--dry-run", "--yes"]);
    }
    assert!(has_bytes(&sandbox, "memory.db", TOKEN) && has_bytes(&sandbox, "state.db", TOKEN));
    let memory = sandbox.json(&["memory", "redact", "--yes"]);
    assert_eq!((&memory["texts"]["message"], &memory["texts"]["fact"]), (&1.into(), &1.into()));
    assert_eq!(memory["texts"]["name"], 1, "the fact was thought to be about the token");
    let sessions = sandbox.json(&["sessions", "redact", "--yes"]);
    assert_eq!(sessions["messages"], 1);
    assert!(!has_bytes(&sandbox, "memory.db", TOKEN) && !has_bytes(&sandbox, "state.db", TOKEN));
    let deep = sandbox.ok(&["doctor", "--deep"]);
    assert!(!deep.contains("redact"), "{deep}");
    assert!(sandbox.ok(&["sessions", "show", "harbour"]).contains("[secret: github-token]"));
    assert!(sandbox.ok(&["sessions", "search", "crane Monday"]).contains("[secret: github-token]"));
    assert!(sandbox.ok(&["memory", "catch-up"]).contains("nothing is missing"));
    let found = sandbox.ok(&["memory", "search", "what does the crane want on Monday?"]);
    assert!(found.contains("[secret: github-token]"), "{found}");
}

#[test]
fn what_holds_a_secret_is_refused_where_the_settings_say_so() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "recording.secrets", "refuse"]);
    let fact = format!("The crane listens to {TOKEN}");
    sandbox.fails(
        &["memory", "fact", "add", &fact],
        5,
        &["it contains a secret (github-token)", "recording.secrets"],
    );
    tell(&sandbox, "harbour", &format!("the crane wants {TOKEN}"));
    assert!(!has_bytes(&sandbox, "memory.db", TOKEN));
    assert!(sandbox.ok(&["sessions", "show", "harbour"]).contains(TOKEN));
}

#[test]
fn a_transcript_of_another_program_is_never_altered() {
    let sandbox = Sandbox::ready();
    tell(&sandbox, "harbour", &format!("the crane wants {TOKEN}"));
    let database = sandbox.database("state.db");
    database.execute_batch("create table state_meta (key text primary key, value text)").unwrap();
    drop(database);
    sandbox.fails(&["sessions", "redact", "--yes"], 5, &["never alters"]);
    assert!(sandbox.ok(&["sessions", "show", "harbour"]).contains(TOKEN));
    let doctor = sandbox.ok(&["doctor"]);
    assert!(doctor.contains("never alters it") && !doctor.contains("sessions redact"), "{doctor}");
}
