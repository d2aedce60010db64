//! Checks of the machine: the program, PATH, free space, the file system.

use std::path::{Path, PathBuf};

use hermes_home::Home;

use super::Check;
use crate::app::App;
use crate::platform;
use crate::text::bytes;

const LITTLE_SPACE: u64 = 1_000_000_000;
const NO_SPACE: u64 = 50_000_000;

/// What is checked of the machine and the folder.
pub fn checks(app: &App, home: &Home) -> Vec<Check> {
    let mut results = vec![program(), path(app)];
    results.extend(disk(home));
    results.extend(file_system(home));
    results
}

fn program() -> Check {
    let place = std::env::current_exe().unwrap_or_default();
    Check::ok(
        "program",
        format!(
            "hermes {} at {}, SQLite {}",
            env!("CARGO_PKG_VERSION"),
            place.display(),
            hermes_store::sqlite::version()
        ),
    )
}

/// Other programs called hermes, such as Hermes Agent's own.
fn path(app: &App) -> Check {
    let ours = std::env::current_exe().and_then(|place| place.canonicalize()).unwrap_or_default();
    let found = programs_on_path(app);
    let others: Vec<&PathBuf> =
        found.iter().filter(|place| place.canonicalize().ok().as_ref() != Some(&ours)).collect();
    match (found.first(), others.as_slice()) {
        (None, _) => Check::ok("path", "no hermes on PATH; this one was started by its path"),
        (Some(_), []) => Check::ok("path", "hermes on PATH is this program"),
        (Some(first), others) => {
            let list: Vec<String> =
                others.iter().map(|place| place.display().to_string()).collect();
            let which = if others.contains(&first) {
                "another hermes comes first"
            } else {
                "there is another hermes"
            };
            Check::warn("path", format!("{which} on PATH: {}", list.join(", ")))
                .repair(format!("alias hermes={}", ours.display()))
        }
    }
}

fn programs_on_path(app: &App) -> Vec<PathBuf> {
    let folders = app.env.get("PATH").map(std::env::split_paths);
    let mut found: Vec<PathBuf> = Vec::new();
    for place in folders.into_iter().flatten().map(|folder| folder.join("hermes")) {
        if platform::is_program(&place) && !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

fn disk(home: &Home) -> Option<Check> {
    let free = platform::free_space(nearest(home.folder()))?;
    let evidence = format!("{} free", bytes(free));
    if let Some(why) = platform::refuses_files(nearest(home.folder())) {
        let evidence = format!("{evidence}, and {why}: reading works, writing does not");
        return Some(Check::fail("disk", evidence).repair("make this disk writable again"));
    }
    Some(match free {
        free if free < NO_SPACE => Check::fail("disk", evidence).repair(
            "free some space on this \
             disk",
        ),
        free if free < LITTLE_SPACE => Check::warn("disk", evidence),
        _ => Check::ok("disk", evidence),
    })
}

/// SQLite's write-ahead log needs shared memory, which network file systems do not give.
fn file_system(home: &Home) -> Option<Check> {
    let kind = platform::network_file_system(nearest(home.folder()))?;
    let evidence = format!(
        "the home is on {kind}; two machines that use it can damage its \
         databases"
    );
    Some(Check::warn("filesystem", evidence).repair("move the home to a local disk"))
}

/// The folder itself or its first parent that exists.
fn nearest(folder: &Path) -> &Path {
    folder.ancestors().find(|parent| parent.exists()).unwrap_or(folder)
}
