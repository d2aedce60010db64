//! A memory as one document: written, cut, damaged, too new, and taken in again.

use hermes_memory::Error;
use hermes_memory::chunk::Vectors;
use hermes_memory::transfer::{
    self, Ending, ExportSettings, ImportReport, ImportSettings, export, import,
};
use hermes_store::memory::{Admin, Memory, Section};
use jiff::tz::TimeZone;

use crate::support::{add_fact, line, memory, now, record};

fn settings() -> ExportSettings<'static> {
    ExportSettings {
        made_by: "hermes test",
        now: now(),
        user: None,
        since: None,
        sections: None,
        redact: false,
    }
}

fn written(memory: &Memory, settings: &ExportSettings<'_>) -> Vec<u8> {
    let mut document = Vec::new();
    let written = export(memory, &mut document, settings, &mut |_, _| {}).unwrap();
    assert_eq!(written.bytes, document.len() as u64);
    document
}

fn taken(memory: &mut Memory, document: &[u8]) -> Result<ImportReport, Error> {
    let settings = ImportSettings {
        profile: "default",
        zone: &TimeZone::UTC,
        now: now(),
        vectors: Vectors::Now,
    };
    import(memory, &mut &*document, &settings, &mut |_, _| {})
}

fn filled(memory: &mut Memory) {
    for day in 1..=30 {
        let day = format!("2026-05-{day:02}");
        let session = format!("session-{}", &day[8..9]);
        let said = line(&session, "user", &day, &format!("On {day} the harbor was \"closed\".\n"))
            + &line(&session, "assistant", &day, "Then the onions wait. 你好");
        record(memory, &said);
        add_fact(memory, &format!("The harbor was closed on {day}."), &["Harbor"]);
    }
    add_fact(memory, "The key is sk-abcdefghijklmnop123456.", &[]);
}

#[test]
fn a_document_makes_the_same_document_again() {
    let (_here, mut from) = memory();
    filled(&mut from);
    let document = written(&from, &settings());
    let value: serde_json::Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(value["counts"]["facts"], 31);
    assert_eq!(value["episodes"][0]["messages"][0]["role"], "user");
    let (_there, mut twin) = memory();
    let report = taken(&mut twin, &document).unwrap();
    assert_eq!((report.is_partial(), report.is_of_another_profile), (false, false));
    let again = String::from_utf8(written(&twin, &settings())).unwrap();
    assert_eq!(String::from_utf8(document.clone()).unwrap(), again);
    assert_eq!(twin.counts(Admin).unwrap().messages, 60);
    assert_eq!(taken(&mut twin, &document).unwrap().imported.total().added, 0);
    assert!(twin.check_memory(Admin).unwrap().is_empty());
}

#[test]
fn a_document_cut_anywhere_is_kept_as_far_as_it_goes_and_the_whole_one_completes_it() {
    let (_here, mut from) = memory();
    filled(&mut from);
    let document = written(&from, &settings());
    for part in 0..50 {
        let cut = document.len() * part / 50;
        let (_there, mut target) = memory();
        match taken(&mut target, &document[..cut]) {
            Ok(report) => assert_eq!(report.ending, Ending::Cut, "cut at {cut}"),
            Err(Error::NotExport { .. }) => {
                assert_eq!(target.counts(Admin).unwrap().facts, 0, "cut at {cut}");
            }
            Err(other) => panic!("cut at {cut}: {other}"),
        }
        if part % 7 == 0 {
            assert!(!taken(&mut target, &document).unwrap().is_partial());
            assert!(written(&target, &settings()) == document, "cut at {cut}");
        }
    }
}

#[test]
fn what_is_newer_or_something_else_is_refused_before_anything_is_written() {
    let (_folder, mut target) = memory();
    let newer = br#"{"hermes_memory": 2, "home_id": "x", "facts": [{"id": 1}]}"#;
    assert!(matches!(taken(&mut target, newer), Err(Error::NewerExport { found: 2, known: 1 })));
    let deep = "[".repeat(100_000);
    let others = ["", "{}", "[]", "null", "{\"facts\": []}", "\u{0}\u{1}", &deep];
    for other in others {
        let refused = taken(&mut target, other.as_bytes());
        assert!(matches!(refused, Err(Error::NotExport { .. })), "{other:.20}");
    }
    assert_eq!(target.counts(Admin).unwrap().facts, 0);
}

#[test]
fn unknown_keys_are_passed_over_and_damage_is_named() {
    let (_folder, mut target) = memory();
    let head = r#"{"hermes_memory": 1, "profile": "work", "home_id": "x", "exported_at": "2026-01-01T00:00:00Z", "new": {"a": [1]}"#;
    let fine = format!("{head}, \"facts\": [], \"later\": [[]], \"counts\": {{}}}}");
    let report = taken(&mut target, fine.as_bytes()).unwrap();
    assert_eq!((report.ending.clone(), report.is_of_another_profile), (Ending::Whole, true));
    let short = format!("{head}, \"facts\": [], \"counts\": {{\"facts\": 3}}}}");
    let report = taken(&mut target, short.as_bytes()).unwrap();
    assert!(matches!(report.ending, Ending::Short { said: 3, found: 0, .. }));
    for bad in ["[7]", "[{\"id\": }]", "\"x\"", &format!("[{}]", "{\"a\":".repeat(1000))] {
        let damaged = format!("{head}, \"facts\": {bad}, \"counts\": {{}}}}");
        let report = taken(&mut target, damaged.as_bytes()).unwrap();
        assert!(matches!(report.ending, Ending::Damaged { .. }), "{bad:.20} {:?}", report.ending);
    }
}

#[test]
fn a_part_and_a_redacted_document_hold_what_was_asked_for() {
    let (_here, mut from) = memory();
    filled(&mut from);
    let facts = ExportSettings { sections: Some(&[Section::Facts]), redact: true, ..settings() };
    let document = String::from_utf8(written(&from, &facts)).unwrap();
    assert!(document.contains("The key is [secret: openai-key].") && !document.contains("sk-abc"));
    assert!(!document.contains("\"episodes\"") && !document.contains("\"audit\""));
    let (_there, mut target) = memory();
    let report = taken(&mut target, document.as_bytes()).unwrap();
    assert_eq!((report.is_partial(), report.imported.tallies["facts"].added), (false, 31));
    assert!(
        !target.check_memory(Admin).unwrap().iter().any(|found| found.problem.contains("refer"))
    );
    let mut looked = document.as_bytes();
    let import_settings = ImportSettings {
        profile: "default",
        zone: &TimeZone::UTC,
        now: now(),
        vectors: Vectors::Later,
    };
    let report = transfer::look(&target, &mut looked, &import_settings, &mut |_, _| {}).unwrap();
    assert_eq!((report.items["facts"], report.here_already >= 31), (31, true));
}
