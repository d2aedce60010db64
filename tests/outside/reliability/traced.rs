//! What the program asks of the file system, as strace tells it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::sandbox::Sandbox;

/// One call of the system that came to its end.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// What stands between the commas.
    pub(crate) arguments: Vec<String>,
    pub(crate) result: i64,
}

/// The calls that change files or say something.
const CHANGING: &str = "open,openat,creat,write,pwrite64,writev,pwritev,ftruncate,truncate,fallocate,fsync,fdatasync,\
    sync,syncfs,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,lseek,copy_file_range,\
    sendfile,dup,dup2,dup3,close,fcntl,ioctl";

/// Runs the program to its end with a file on its standard input; what it printed, and every such call.
pub(crate) fn run(sandbox: &Sandbox, arguments: &[&str], input: &[u8]) -> (String, Vec<Call>) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let program = env!("CARGO_BIN_EXE_hermes");
    let mut all = vec!["-f", "-qq", "-y", "-xx", "-s", "100000000", "-e"];
    let trace = format!("trace={CHANGING}");
    all.extend([trace.as_str(), "-o", log.path().to_str().unwrap(), program]);
    all.extend(arguments);
    let mut command = sandbox.command_of(Path::new("/usr/bin/strace"), &all);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {printed}{complaint}");
    (printed, parse(&std::fs::read_to_string(log.path()).unwrap()))
}

fn parse(log: &str) -> Vec<Call> {
    let mut begun: std::collections::HashMap<&str, String> = std::collections::HashMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let Some((process, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(first) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(process, first.to_owned());
            continue;
        }
        let whole = match rest.strip_prefix("<... ") {
            Some(resumed) => {
                let after = resumed.split_once(" resumed>").map_or("", |(_, after)| after);
                begun.remove(process).unwrap_or_default() + after
            }
            None => rest.to_owned(),
        };
        calls.extend(parse_call(&whole));
    }
    calls
}

/// A call that did something; one that failed changed nothing.
fn parse_call(line: &str) -> Option<Call> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let arguments = arguments.trim_end().strip_suffix(')')?;
    let digits: String = result.chars().take_while(|c| c.is_ascii_digit()).collect();
    let result = digits.parse().ok()?;
    let arguments = arguments.split(", ").map(str::to_owned).collect();
    Some(Call { name: name.to_owned(), arguments, result })
}

impl Call {
    pub(crate) fn argument(&self, number: usize) -> &str {
        self.arguments.get(number).map_or("", String::as_str)
    }

    pub(crate) fn number(&self, number: usize) -> usize {
        self.argument(number).parse().unwrap_or(0)
    }

    /// The descriptor in that place.
    pub(crate) fn descriptor(&self, number: usize) -> i64 {
        let digits = self.argument(number).split('<').next().unwrap_or_default();
        digits.parse().unwrap_or(-1)
    }

    /// Every text among the arguments, one after the other: what a write writes.
    pub(crate) fn texts(&self) -> Vec<u8> {
        let all = self.arguments.join(", ");
        all.split('"').skip(1).step_by(2).flat_map(unescaped).collect()
    }

    /// The path in one place, of the folder in the place before it if it is not a whole one.
    pub(crate) fn path(&self, number: usize, folder: Option<usize>) -> PathBuf {
        let text = self.argument(number).trim_matches('"');
        let path = PathBuf::from(String::from_utf8_lossy(&unescaped(text)).into_owned());
        let Some(folder) = folder else { return path };
        let inside = self.argument(folder).split_once('<').map_or("", |(_, rest)| rest);
        let inside = unescaped(inside.trim_end_matches('>'));
        PathBuf::from(String::from_utf8_lossy(&inside).into_owned()).join(path)
    }

    pub(crate) fn has(&self, flag: &str) -> bool {
        self.arguments.iter().any(|argument| argument.split('|').any(|found| found == flag))
    }
}

fn unescaped(text: &str) -> Vec<u8> {
    text.split("\\x").skip(1).filter_map(|two| u8::from_str_radix(two.get(..2)?, 16).ok()).collect()
}
