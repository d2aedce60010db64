//! A home for tests, and turns that were said in it.

use hermes_home::Home;
use hermes_home::init::{self, Owner};
use hermes_memory::record::turn::Turn;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::app::{App, Opening};

/// A home of our own that is gone when the test is over.
pub(crate) struct Place {
    pub(crate) app: App,
    pub(crate) home: Home,
    _folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("home");
        let app = App::new(Opening { home: Some(root), ..Opening::default() });
        let home = app.home().unwrap();
        init::prepare(&home, Owner::Ours).unwrap();
        Place { app, home, _folder: folder }
    }
}

/// A turn of another program's session in which a user says one thing.
pub(crate) fn said(session: &str, text: &str) -> Turn {
    let id: String = text.chars().filter(|c| c.is_alphanumeric()).take(60).collect();
    let messages = [json!({ "role": "user", "text": text, "external_id": id })];
    let turn = json!({ "from": "test", "session_id": session, "messages": messages });
    Turn::from_json(&turn, &TimeZone::UTC).unwrap()
}
