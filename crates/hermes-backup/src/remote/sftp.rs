//! Runs the system's sftp with a script, and reads what it lists.

use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

use super::{Ssh, Stored};

/// Why a program of ssh did not do what it was told.
#[derive(Debug)]
pub(super) enum Failed {
    /// It is not installed.
    Missing(&'static str),
    /// It could not be run.
    NotRun(&'static str, std::io::Error),
    /// It ended with an error, and this is what it wrote.
    Said(String),
}

/// Runs a script of sftp commands; gives back what it wrote.
pub(super) fn run(ssh: &Ssh, script: &[String]) -> Result<String, Failed> {
    let mut command = Command::new("sftp");
    command.args(["-b", "-"]).args(options(ssh));
    if let Some(port) = ssh.port {
        command.args(["-P", &port.to_string()]);
    }
    command.arg("--").arg(login(ssh));
    let mut text = script.join("\n");
    text.push('\n');
    finish("sftp", command, text.as_bytes())
}

/// Runs rsync to append what is missing of a file.
pub(super) fn rsync(ssh: &Ssh, from: &std::path::Path, to: &str) -> Result<String, Failed> {
    let mut shell = vec!["ssh".to_owned()];
    shell.extend(options(ssh));
    shell.extend(ssh.port.map(|port| format!("-p{port}")));
    // rsync takes its shell apart at blanks; inside quotes a quote is written twice.
    let quoted: Vec<String> =
        shell.iter().map(|word| format!("'{}'", word.replace('\'', "''"))).collect();
    let mut command = Command::new("rsync");
    command
        .args(["--protect-args", "--append-verify", "--partial", "--perms", "--chmod=F600"])
        .args(["--timeout=60", "-e", &quoted.join(" "), "--"])
        .arg(from)
        .arg(format!("{}:{to}", login(ssh)));
    finish("rsync", command, b"")
}

/// A word of a script: blanks, quotes and wild cards stand for themselves.
pub(super) fn quote(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Reads what `ls -lan` wrote: the regular files with their sizes.
pub(super) fn read_list(text: &str) -> Vec<Stored> {
    let mut found: Vec<Stored> = text.lines().filter_map(read_line).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// `-rw-------    1 0        0            1234 Nov 16 08:00 name`
fn read_line(line: &str) -> Option<Stored> {
    if !line.starts_with('-') {
        return None;
    }
    let mut rest = line;
    let mut words = Vec::new();
    for _ in 0..8 {
        rest = rest.trim_start();
        let (word, after) = rest.split_once(' ')?;
        words.push(word);
        rest = after;
    }
    let size = words.get(4)?.parse().ok()?;
    (!rest.is_empty()).then(|| Stored { name: rest.to_owned(), size })
}

/// What ssh is told, by whichever program starts it; it never asks anybody anything.
fn options(ssh: &Ssh) -> Vec<String> {
    let mut options: Vec<String> = [
        "-oBatchMode=yes",
        "-oConnectTimeout=20",
        "-oServerAliveInterval=15",
        "-oServerAliveCountMax=4",
        "-oControlPath=none",
        "-oForwardAgent=no",
        "-oClearAllForwardings=yes",
    ]
    .map(str::to_owned)
    .into();
    if let Some(identity) = &ssh.identity {
        options.push(format!("-oIdentityFile=\"{}\"", identity.display()));
        options.push("-oIdentitiesOnly=yes".to_owned());
    }
    if let Some(known) = &ssh.known_hosts {
        options.push(format!("-oUserKnownHostsFile=\"{}\"", known.display()));
    }
    options
}

fn login(ssh: &Ssh) -> String {
    let host = if ssh.host.contains(':') { format!("[{}]", ssh.host) } else { ssh.host.clone() };
    match &ssh.user {
        Some(user) => format!("{user}@{host}"),
        None => host,
    }
}

fn finish(program: &'static str, mut command: Command, input: &[u8]) -> Result<String, Failed> {
    command.env("LC_ALL", "C").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let not_run = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Failed::Missing(program),
        _ => Failed::NotRun(program, error),
    };
    let mut child = command.spawn().map_err(not_run)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ended early says why on its own.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(not_run)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Failed::Said(String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_listed_with_their_whole_names() {
        let text = "sftp> ls -lan\n\
            drwx------    ? 0        0            4096 Nov 16 08:00 .\n\
            -rw-------    ? 0        0        20971520 Nov 16 08:00 b\n\
            lrwxrwxrwx    ? 0        0               3 Nov 16  2025 link\n\
            -rw-r--r--    1 1000     1000            7 Jan  1  2025 a name with  blanks\n\
            -rw-r--r--    1 1000\n";
        let expected = [("a name with  blanks", 7), ("b", 20_971_520)]
            .map(|(name, size)| Stored { name: name.to_owned(), size });
        assert_eq!(read_list(text), expected);
    }

    #[test]
    fn a_word_of_a_script_is_one_word() {
        assert_eq!(quote(r#"a b"c\d'[1]*"#), r#""a b\"c\\d'[1]*""#);
    }
}
