//! Checks of the text files: modes, settings, secrets, memory files, profiles.

use std::path::PathBuf;

use hermes_home::config::{self, Finding, Severity};
use hermes_home::layout::MemoryTarget;
use hermes_home::secret::Secrets;
use hermes_home::{Home, memory_file, pins, places, profile};

use super::{Check, fix};
use crate::app::App;
use crate::rules;
use crate::text::{entries, thousands};

pub(super) fn checks(app: &App, home: &Home) -> Vec<Check> {
    let mut results = vec![owner(app, home), modes(app, home), left_overs(app, home)];
    results.push(settings(app, home));
    results.push(secrets(home));
    results.extend(memory_files(app, home));
    results.extend(duplicates(app, home));
    results.push(profiles(home));
    results.extend(broken_pins(home));
    results
}

fn broken_pins(home: &Home) -> Option<Check> {
    let error = pins::read(home).err()?;
    Some(
        Check::fail("pins", error.to_string())
            .repair(format!("move {} away", home.pins().display())),
    )
}

fn owner(app: &App, home: &Home) -> Check {
    use hermes_home::init::Owner;
    let folder = home.folder().display();
    match app.owner(home) {
        Ok(Owner::Ours) => Check::ok("home", format!("{folder}")),
        Ok(Owner::HermesAgent) => Check::ok(
            "home",
            format!("{folder}, created by Hermes Agent: its files are used as they are"),
        ),
        Err(error) => Check::fail("home", format!("{error:#}")).repair("hermes config check"),
    }
}

fn modes(app: &App, home: &Home) -> Check {
    let open = fix::too_open(home, app.memory_path(home).ok());
    let Some(first) = open.first() else {
        return Check::ok("modes", "folders and files are private");
    };
    let more = if open.len() > 1 { format!(" and {} more", open.len() - 1) } else { String::new() };
    let evidence = format!("other users can read {}{more}", first.path.display());
    let check = if open.iter().any(|file| file.path == home.secrets()) {
        Check::fail("modes", evidence)
    } else {
        Check::warn("modes", evidence)
    };
    check.repair("hermes doctor --fix")
}

fn left_overs(app: &App, home: &Home) -> Check {
    match fix::left_overs(home, app.now).len() {
        0 => Check::ok("temporary", "no files left over from an interrupted write"),
        count => Check::warn("temporary", format!("{count} left over from an interrupted write"))
            .repair("hermes doctor --fix"),
    }
}

fn settings(app: &App, home: &Home) -> Check {
    let found = app
        .owner(home)
        .and_then(|owner| Ok(config::check(home, owner, &app.env, &app.flag_settings()?)?));
    let findings = match found {
        Ok(findings) => findings,
        Err(error) => {
            return Check::fail("config", format!("{error:#}")).repair("hermes config edit");
        }
    };
    // Open modes have a check of their own, with a command that repairs them.
    let about_mode =
        |finding: &&Finding| finding.key.is_none() && finding.message.contains("can read");
    let worst = findings
        .iter()
        .filter(|finding| finding.severity > Severity::Note)
        .find(|finding| !about_mode(finding));
    match worst {
        None => Check::ok("config", home.config().display().to_string()),
        Some(finding) if finding.severity == Severity::Error => {
            Check::fail("config", finding.to_string()).repair("hermes config check")
        }
        Some(finding) => Check::warn("config", finding.to_string()).repair("hermes config check"),
    }
}

fn secrets(home: &Home) -> Check {
    match Secrets::read(home) {
        Err(error) => Check::fail("secrets", error.to_string()),
        Ok(secrets) => match secrets.bad_lines.first() {
            Some(bad) => Check::warn("secrets", format!(".env line {}: {}", bad.line, bad.why))
                .repair(format!("edit {}", home.secrets().display())),
            None => Check::ok("secrets", format!("{} in .env", secrets.names().count())),
        },
    }
}

fn memory_files(app: &App, home: &Home) -> Vec<Check> {
    // Without settings there are no limits to check; the check of the settings says why.
    if app.config(home).is_err() {
        return Vec::new();
    }
    let check = |target: &MemoryTarget, name, flag| {
        let read = rules::of_file(app, home, target)
            .and_then(|rules| Ok(memory_file::read(home, target, rules)?));
        match read {
            Err(error) => Check::fail(name, format!("{error:#}"))
                .repair(format!("hermes memory versions{flag}, then hermes memory restore{flag}")),
            Ok(read) if read.usage.limit.is_some_and(|limit| read.usage.chars > limit) => {
                Check::warn(name, format!("over its limit: {}", read.usage))
                    .repair(format!("hermes memory edit{flag}"))
            }
            Ok(read) => Check::ok(
                name,
                format!(
                    "{}, about {} tokens in every session",
                    entries(read.document.entries().len()),
                    thousands(read.tokens as u64)
                ),
            ),
        }
    };
    vec![
        check(&MemoryTarget::Memory, "memory", ""),
        check(&MemoryTarget::User(None), "user", " --file user"),
    ]
}

fn duplicates(app: &App, home: &Home) -> Vec<Check> {
    let Ok(owner) = app.owner(home) else { return Vec::new() };
    let mut elsewhere: Vec<PathBuf> = Vec::new();
    for target in [MemoryTarget::Memory, MemoryTarget::User(None)] {
        let found = places::find(home, &target, owner).unwrap_or_default();
        elsewhere.extend(found.into_iter().map(|place| place.path));
    }
    if elsewhere.is_empty() {
        return vec![Check::ok("places", "every memory file exists once")];
    }
    let list: Vec<String> = elsewhere.iter().map(|path| path.display().to_string()).collect();
    let evidence =
        format!("memory files are also in {}: they are read, never written", list.join(", "));
    vec![Check::warn("places", evidence).repair("hermes memory merge")]
}

fn profiles(home: &Home) -> Check {
    let sticky = profile::sticky(home);
    let names = profile::list(home);
    match (sticky, names) {
        (Ok(Some(name)), Ok(names)) if !names.contains(&name) => {
            Check::fail("profile", format!("the profile in use, {name}, does not exist"))
                .repair("hermes profile use default")
        }
        (Ok(_), Ok(names)) => Check::ok(
            "profile",
            format!("{} in use, {} in total", home.profile_name(), names.len() + 1),
        ),
        (Err(error), _) | (_, Err(error)) => {
            Check::fail("profile", error.to_string()).repair("hermes profile use default")
        }
    }
}
