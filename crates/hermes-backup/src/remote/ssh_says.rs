//! What the ssh programs write when something goes wrong, in plain words.

use super::Ssh;
use super::sftp::Failed;
use crate::Error;

/// What is the matter, whether trying again may help, and what mends it.
#[derive(Debug, PartialEq, Eq)]
struct Meaning {
    why: String,
    again: bool,
    hint: Option<String>,
}

/// The error that a failure is.
pub(super) fn error(ssh: &Ssh, doing: &'static str, failed: Failed) -> Error {
    let place = ssh.place();
    let Meaning { why, again, hint } = match failed {
        Failed::Missing(program) => Meaning {
            why: format!("the program {program} is not installed"),
            again: false,
            hint: Some(install(program).to_owned()),
        },
        Failed::NotRun(program, error) => {
            Meaning { why: format!("could not run {program}: {error}"), again: false, hint: None }
        }
        Failed::Said(said) => meaning(ssh, &said),
    };
    Error::Remote { doing, place, why, again, hint }
}

fn install(program: &str) -> &'static str {
    match program {
        "rsync" => "install it with `apt-get install rsync`, or remove transfer=rsync",
        _ => "install it with `apt-get install openssh-client`",
    }
}

/// Whether it failed because the folder or file is not there.
pub(super) fn is_missing(failed: &Failed) -> bool {
    matches!(failed, Failed::Said(said) if said.contains("No such file") || said.contains("not found"))
}

fn meaning(ssh: &Ssh, said: &str) -> Meaning {
    let lower = said.to_lowercase();
    let found = PATTERNS.iter().find(|(pattern, ..)| lower.contains(pattern));
    match found {
        Some((_, why, again, hint)) => {
            Meaning { why: (*why).to_owned(), again: *again, hint: hint.map(|hint| hint(ssh)) }
        }
        None => Meaning { why: last_line(said), again: true, hint: None },
    }
}

type Hint = fn(&Ssh) -> String;

/// What is written, what it means, whether trying again may help, what mends it; the first that fits holds.
const PATTERNS: &[(&str, &str, bool, Option<Hint>)] = &[
    (
        "remote host identification has changed",
        "its host key is not the known one: someone may be intercepting the connection",
        false,
        Some(hint_changed),
    ),
    ("host key verification failed", "its host key is not known here", false, Some(hint_unknown)),
    ("permission denied (", "it accepts none of the keys that ssh has", false, Some(hint_key)),
    (
        "too many authentication failures",
        "it accepts none of the keys that ssh has",
        false,
        Some(hint_key),
    ),
    ("could not resolve hostname", "the host name cannot be resolved", true, None),
    ("connection refused", "the connection was refused: nothing listens there", true, None),
    ("timed out", "it did not respond in time", true, None),
    ("timeout, server", "it stopped responding", true, None),
    ("timeout in data", "it stopped responding", true, None),
    ("no route to host", "there is no network route to it", true, None),
    ("network is unreachable", "there is no network route to it", true, None),
    ("subsystem request failed", "it does not offer sftp", false, None),
    ("rsync: command not found", "rsync is not installed there", false, Some(hint_no_rsync)),
    ("rsync: not found", "rsync is not installed there", false, Some(hint_no_rsync)),
    ("no space left", "its disk is full", true, None),
    ("quota exceeded", "its quota is exceeded", true, None),
    ("connection reset", "the connection was interrupted", true, None),
    ("connection closed", "the connection was interrupted", true, None),
    ("connection to ", "the connection was interrupted", true, None),
    ("connection unexpectedly closed", "the connection was interrupted", true, None),
    ("broken pipe", "the connection was interrupted", true, None),
    ("permission denied", "its user has no permission for that in this folder", false, None),
    ("read-only file system", "its disk is read-only", false, None),
    ("no such file", "there is no such file or folder", false, None),
    ("not found", "there is no such file or folder", false, None),
    (": failure", "it only reported `failure`: its disk may be full", true, None),
];

fn hint_changed(ssh: &Ssh) -> String {
    format!(
        "ask its administrator; if the key really changed, run `ssh-keygen -R '{}'`",
        known_as(ssh)
    )
}

fn hint_unknown(ssh: &Ssh) -> String {
    let file = ssh
        .known_hosts
        .as_ref()
        .map_or_else(|| "~/.ssh/known_hosts".to_owned(), |path| format!("'{}'", path.display()));
    let port = ssh.port.map(|port| format!("-p {port} ")).unwrap_or_default();
    format!(
        "compare its key with what its owner tells you, then run `ssh-keyscan {port}{} >> {file}`",
        ssh.host
    )
}

fn hint_key(ssh: &Ssh) -> String {
    let port = ssh.port.map(|port| format!("-p {port} ")).unwrap_or_default();
    let identity =
        ssh.identity.as_ref().map(|path| format!("-i '{}' ", path.display())).unwrap_or_default();
    let user = ssh.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
    format!("install your key with `ssh-copy-id {identity}{port}{user}{}`", ssh.host)
}

fn hint_no_rsync(_: &Ssh) -> String {
    "install rsync there, or remove transfer=rsync".to_owned()
}

fn known_as(ssh: &Ssh) -> String {
    match ssh.port {
        Some(port) if port != 22 => format!("[{}]:{port}", ssh.host),
        _ => ssh.host.clone(),
    }
}

/// The last line that says something, short and without control characters.
fn last_line(said: &str) -> String {
    let line = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let line: String =
        line.unwrap_or("it gave no reason").chars().filter(|c| !c.is_control()).take(200).collect();
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Ssh {
        Ssh {
            user: Some("me".to_owned()),
            host: "nas".to_owned(),
            port: Some(2222),
            path: "/srv/x".to_owned(),
            rsync: false,
            identity: None,
            known_hosts: None,
        }
    }

    #[test]
    fn what_ssh_writes_is_told_in_words_with_the_next_command() {
        for (said, why, hint) in [
            (
                "No ED25519 host key is known for nas.\nHost key verification failed.\nConnection closed\n",
                "not known here",
                "ssh-keyscan -p 2222 nas",
            ),
            (
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\n",
                "someone may be intercepting",
                "ssh-keygen -R '[nas]:2222'",
            ),
            (
                "me@nas: Permission denied (publickey).\nConnection closed\n",
                "none of the keys",
                "ssh-copy-id -p 2222 me@nas",
            ),
            ("sh: 1: rsync: not found\nrsync error: (code 127)", "not installed there", "rsync"),
        ] {
            let meaning = meaning(&host(), said);
            assert!(meaning.why.contains(why), "{meaning:?}");
            assert!(meaning.hint.as_ref().unwrap().contains(hint), "{meaning:?}");
            assert!(!meaning.again, "{meaning:?}");
        }
        for said in [
            "ssh: connect to host nas port 2222: Connection refused\nConnection closed\n",
            "client_loop: send disconnect: Broken pipe\n",
            "write remote \"/srv/x/.y.partial\": Failure\n",
        ] {
            assert!(meaning(&host(), said).again, "{said}");
        }
    }

    #[test]
    fn what_is_not_known_is_told_as_it_was_written_but_harmless() {
        let said = format!("first\nlast \u{1b}[31m{}\n\n", "x".repeat(500));
        let meaning = meaning(&host(), &said);
        assert!(meaning.why.starts_with("last [31mxxx"));
        assert_eq!(meaning.why.chars().count(), 200);
    }
}
