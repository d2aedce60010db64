//! The house rules that would drift if nothing checked them.
#![expect(clippy::unwrap_used, reason = "a test that cannot read the tree should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

const CRATES: (&str, &str) = ("<!-- crates -->", "<!-- end of crates -->");
const ROOMS: (&str, &str) = ("<!-- rooms -->", "<!-- end of rooms -->");
const WALKS: (&str, &str) = ("<!-- walks -->", "<!-- end of walks -->");
/// Set to 1, the pages made from the source are written anew instead of being compared.
const UPDATE: &str = "HERMES_UPDATE_DOCS";
const LONGEST_FILE: usize = 500;

#[test]
fn every_file_says_in_its_first_line_what_it_is_for() {
    let silent: Vec<String> = sources()
        .iter()
        .filter(|path| purpose(path).is_none_or(|line| line.is_empty()))
        .map(|path| shown(path))
        .collect();
    assert!(silent.is_empty(), "no first line of purpose: {silent:?}");
}

#[test]
fn no_source_file_has_grown_into_several_things() {
    let long: Vec<String> = sources()
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .filter(|path| fs::read_to_string(path).unwrap().lines().count() > LONGEST_FILE)
        .map(|path| shown(path))
        .collect();
    assert!(long.is_empty(), "longer than {LONGEST_FILE} lines: {long:?}");
}

#[test]
fn crates_depend_on_one_another_as_drawn() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let drawn: BTreeMap<String, BTreeSet<String>> = between(&text, CRATES)
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (cells[1].trim_matches('`').to_owned(), names_in(cells[2]))
        })
        .collect();
    assert_eq!(built(), drawn, "left: Cargo.toml files, right: ARCHITECTURE.md");
}

#[test]
fn modules_use_one_another_as_drawn() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let all: BTreeMap<&str, &str> =
        between(&text, ROOMS).lines().filter_map(|line| line.split_once(": ")).collect();
    assert!(all.keys().copied().eq(built().keys()), "every crate is drawn, and no other");
    let mut wrong = Vec::new();
    for (krate, drawn) in all {
        let rooms: BTreeMap<&str, usize> = drawn
            .split(" > ")
            .enumerate()
            .flat_map(|(place, names)| names.split(' ').map(move |name| (name, place)))
            .collect();
        let arrows = arrows_in(&root().join("crates").join(krate).join("src"));
        let there: BTreeSet<&str> = arrows.keys().map(String::as_str).collect();
        assert_eq!(there, rooms.keys().copied().collect(), "modules of {krate}");
        for (from, to) in arrows.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)))
        {
            if rooms.get(to.as_str()).is_some_and(|place| *place <= rooms[from.as_str()]) {
                wrong.push(format!("{krate}: {from} uses {to}"));
            }
        }
    }
    assert!(wrong.is_empty(), "arrows that ARCHITECTURE.md does not draw: {wrong:#?}");
}

#[test]
fn only_the_backends_know_which_database_it_is() {
    let backend = Path::new("hermes-store/src/memory/backend");
    let mut wrong = Vec::new();
    for file in sources() {
        let is_of_store = file.starts_with(root().join("crates/hermes-store/src/memory"));
        if !is_of_store || file.starts_with(root().join("crates").join(backend)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let asks = [".file()", ".server()", "is_on_server", "::sqlite::File", "postgres::Server"];
        for asked in asks.iter().filter(|asked| text.contains(**asked)) {
            wrong.push(format!("{}: {asked}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "they ask which database it is: {wrong:#?}");
}

#[test]
fn the_walks_lead_from_function_to_function() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let code = |file: &str| {
        fs::read_to_string(root().join("crates").join(format!("{file}.rs"))).unwrap_or_default()
    };
    let mut wrong = Vec::new();
    for walk in between(&text, WALKS).split("\n**").skip(1) {
        let mut before = String::new();
        for (said, step) in walk.split('`').zip(walk.split('`').skip(1)) {
            let Some((file, function)) = step.split_once(".rs: ") else { continue };
            let here = code(file);
            let is_there =
                ["(", "<"].iter().any(|end| here.contains(&format!("fn {function}{end}")));
            // A walk begins at one of several doors.
            let is_door = before.is_empty() || said == " or ";
            if !is_there || !(is_door || calls(&before, function)) {
                wrong.push(format!("{file}.rs: {function}"));
            }
            before.push_str(&here);
        }
        assert!(!before.is_empty(), "no step in {walk}");
    }
    assert!(wrong.is_empty(), "not there, or not called in a file before: {wrong:#?}");
}

/// Whether a text of code calls a function, or names it to be called.
fn calls(code: &str, function: &str) -> bool {
    code.match_indices(function).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + function.len()..]);
        let is_whole = !after.starts_with(|next: char| next.is_alphanumeric() || next == '_')
            && !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        let is_named = before.ends_with("::") || before.ends_with('.') || after.starts_with('(');
        is_whole && is_named && !before.ends_with("fn ")
    })
}

#[test]
fn migrations_are_numbered_without_gaps_and_never_change() {
    let folder = root().join("crates/hermes-store/migrations");
    let recorded = fs::read_to_string(folder.join("HASHES")).unwrap();
    let recorded: BTreeMap<&str, &str> =
        recorded.lines().filter_map(|line| line.split_once("  ")).map(|(h, p)| (p, h)).collect();
    let mut seen = BTreeSet::new();
    for database in folders_in(&folder) {
        for (place, file) in files_in(&database).iter().enumerate() {
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(name.starts_with(&format!("{:04}_", place + 1)), "a gap before {name}");
            let key = file.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
            let hash = hex(&Sha256::digest(fs::read(file).unwrap()));
            let known = recorded.get(key.as_str()).copied();
            assert_eq!(Some(hash.as_str()), known, "{key} is new or has changed");
            seen.insert(key);
        }
    }
    let gone: Vec<_> = recorded.keys().filter(|key| !seen.contains(**key)).collect();
    assert!(gone.is_empty(), "recorded migrations are gone: {gone:?}");
}

#[test]
fn the_reference_pages_say_what_the_program_says() {
    for name in ["cli", "config", "environment", "slash-commands"] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_hermes")).args(["reference", name]).output().unwrap();
        assert!(output.status.success());
        let page = root().join(format!("docs/reference/{name}.md"));
        let said = String::from_utf8(output.stdout).unwrap();
        if std::env::vars_os().any(|(variable, _)| variable == UPDATE) {
            update(&page, &said);
        }
        let written = fs::read_to_string(&page).unwrap_or_default();
        assert!(written == said, "docs/reference/{name}.md is old; {UPDATE}=1 writes it anew");
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let reasons = fs::read_to_string(root().join("docs/DECISIONS.md")).unwrap();
    let unexplained: Vec<&str> = manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
        .filter(|name| !name.starts_with("hermes-"))
        .filter(|name| !reasons.contains(&format!("`{name}`")))
        .collect();
    assert!(unexplained.is_empty(), "not in docs/DECISIONS.md: {unexplained:?}");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut pages = vec![root().join("README.md"), root().join("ARCHITECTURE.md")];
    pages.push(root().join("CONTRIBUTING.md"));
    collect(&root().join("docs"), &mut pages);
    let mut dead = Vec::new();
    for page in pages.iter().filter(|page| page.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            let outside = target.is_empty() || target.contains("://");
            if !outside && !page.parent().unwrap().join(target).exists() {
                dead.push(format!("{}: {link}", shown(page)));
            }
        }
    }
    assert!(dead.is_empty(), "dead links: {dead:?}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Rust, SQL, Python and scaffold files of all crates and of the tests with other programs, sorted.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["src", "tests", "migrations", "scaffold"] {
        for krate in folders_in(&root().join("crates")) {
            collect(&krate.join(folder), &mut found);
        }
    }
    collect(&root().join("tests/outside"), &mut found);
    found.retain(|path| {
        path.extension().is_some_and(|ending| ["rs", "sql", "py"].iter().any(|e| ending == *e))
    });
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(folder, &mut found);
    found.sort();
    found
}

fn purpose(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).unwrap();
    let first = text.lines().next()?;
    let mark = match path.extension()?.to_str()? {
        "rs" => "//! ",
        "sql" => "-- ",
        _ => "\"\"\"",
    };
    first.strip_prefix(mark).map(|line| line.trim_end_matches("\"\"\"").to_owned())
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

fn between<'a>(text: &'a str, (begin, end): (&str, &str)) -> &'a str {
    let from = text.find(begin).unwrap() + begin.len();
    &text[from..from + text[from..].find(end).unwrap()]
}

#[expect(clippy::disallowed_methods, reason = "a page of the repository, not a file of a home")]
fn update(page: &Path, text: &str) {
    fs::write(page, text).unwrap();
}

fn names_in(cell: &str) -> BTreeSet<String> {
    let names = cell.split(", ").filter(|name| *name != "nothing of ours");
    names.map(|name| format!("hermes-{name}")).collect()
}

fn built() -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for krate in folders_in(&root().join("crates")) {
        let manifest = fs::read_to_string(krate.join("Cargo.toml")).unwrap();
        let uses = manifest
            .lines()
            .skip_while(|line| *line != "[dependencies]")
            .skip(1)
            .take_while(|line| !line.starts_with('['))
            .filter_map(|line| line.split(['.', ' ']).next())
            .filter(|name| name.starts_with("hermes-"))
            .map(str::to_owned);
        all.insert(krate.file_name().unwrap().to_str().unwrap().to_owned(), uses.collect());
    }
    all
}

/// The modules of a crate, and which others each of them names; tests aside.
fn arrows_in(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut files = Vec::new();
    collect(folder, &mut files);
    let shown = shown_by(&fs::read_to_string(folder.join("lib.rs")).unwrap_or_default());
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
        let below = file.strip_prefix(folder).unwrap().with_extension("");
        let mut parts = below.iter().map(|part| part.to_str().unwrap());
        let module = parts.next().unwrap().to_owned();
        let is_alone = matches!(parts.next(), None | Some("mod"));
        if ["lib", "main"].contains(&module.as_str()) || below.to_str().unwrap().ends_with("tests")
        {
            continue;
        }
        let code = fs::read_to_string(file).unwrap();
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let mut named = names_after(code, "crate::");
        if is_alone {
            named.extend(names_after(code, "super::"));
        }
        named.extend(named.clone().iter().filter_map(|name| shown.get(name).cloned()));
        named.remove(&module);
        arrows.entry(module).or_default().extend(named);
    }
    let modules: BTreeSet<String> = arrows.keys().cloned().collect();
    arrows.values_mut().for_each(|named| named.retain(|name| modules.contains(name)));
    arrows
}

/// What the head of a crate shows of its modules: the name, and which module it is of.
fn shown_by(head: &str) -> BTreeMap<String, String> {
    let mut shown = BTreeMap::new();
    for line in head.split(';').filter_map(|line| line.trim().strip_prefix("pub use ")) {
        let (module, names) = line.split_once("::").unwrap();
        let names = names.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        let names = names.filter(|name| !name.is_empty());
        shown.extend(names.map(|name| (name.to_owned(), module.to_owned())));
    }
    shown
}

/// The first words of paths that begin so, also of several in braces.
fn names_after(code: &str, begin: &str) -> BTreeSet<String> {
    let word = |text: &str| -> String {
        text.trim()
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect()
    };
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(begin) {
        let is_part =
            code[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let rest = &code[at + begin.len()..];
        match rest.strip_prefix('{') {
            _ if is_part => {}
            Some(several) => {
                let several = several.split(';').next().unwrap();
                names.extend(several.split(',').map(word));
            }
            None => {
                names.insert(word(rest));
            }
        }
    }
    names
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
