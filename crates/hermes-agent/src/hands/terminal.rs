//! terminal: a command that was approved, with a time limit, no input, and nothing left running.

use std::io::{self, PipeReader, Read};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::Hands;
use super::arguments::Arguments;
use super::change::denied;
use super::output::{Pile, cancelled, done, refused, short};
use crate::approval::{Decision, Kind, Request, Ruling, Verdict, folders_of, only_reads};
use crate::checkpoint::Kept;
use crate::fence::Aim;
use crate::platform::{self, Firmness};
use crate::toolbox::{Ask, Call, Outcome};

/// How long a command may tidy up after it was asked to end.
const GRACE: Duration = Duration::from_millis(800);
/// How long is waited for the last of what was printed, where something else holds the pipe.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How often it is looked whether a command has ended or is to be ended.
const STEP: Duration = Duration::from_millis(10);

/// How a command ended.
#[derive(Debug)]
enum End {
    Itself(ExitStatus),
    TimeOut,
    Cancelled,
}

impl Hands {
    pub(super) fn terminal(&mut self, call: &Call, ask: &mut Ask<'_>) -> Result<Outcome, Outcome> {
        let arguments = Arguments::of(&call.name, &call.input, &["command", "timeout_s"])?;
        let line = arguments.text("command")?;
        let wanted = arguments.number("timeout_s")?.filter(|seconds| *seconds > 0);
        let timeout =
            wanted.map_or(self.timeout, |seconds| self.timeout.min(Duration::from_secs(seconds)));
        if line.trim().is_empty() || line.contains('\0') {
            return Err(refused("terminal: command is empty or not text"));
        }
        let line = self.approved(line, ask)?;
        if self.is_cancelled() {
            return Err(cancelled());
        }
        let kept = self.keep_before(&line)?;
        let (end, pile) = self
            .run(&line, timeout)
            .map_err(|error| refused(format!("could not run the command: {error}")))?;
        let note = self.keep_after(kept);
        let is_failed = matches!(&end, End::Itself(status) if !status.success());
        let remark = if is_failed { self.remark_on_failure(&line) } else { "" };
        let how = end.how(timeout);
        let shown = format!("ran {}: {how}{note}", short(&line, 60));
        Ok(told(&end, &pile, &format!("{how}{remark}"), shown))
    }

    /// The line that may be run: as it is, or as the person changed it.
    fn approved(&mut self, line: &str, ask: &mut Ask<'_>) -> Result<String, Outcome> {
        let mut ruling = self.rules.on_command(line);
        if let (Decision::Allow, Some(why)) = (&ruling.decision, self.beyond(line)) {
            ruling = Ruling { decision: Decision::Ask, danger: Some(why), always: None };
        }
        match ruling.decision {
            Decision::Allow => return Ok(line.to_owned()),
            Decision::Deny(why) => return Err(not_run(&why)),
            Decision::Ask => {}
        }
        let request = Request {
            kind: Kind::Run,
            title: match ruling.danger {
                Some(danger) => format!("run; warning: {danger}"),
                None => "run".to_owned(),
            },
            detail: line.to_owned(),
            folder: self.fence.working().to_owned(),
            always: ruling.always,
            editable: Some(line.to_owned()),
            confinement: Some(self.confinement(line)),
        };
        match ask(&request) {
            Verdict::Once => Ok(line.to_owned()),
            Verdict::Always => {
                self.rules.always_run(line);
                Ok(line.to_owned())
            }
            Verdict::Edited(edited) => match self.rules.on_command(&edited).decision {
                Decision::Deny(why) => Err(not_run(&why)),
                _ if edited.trim().is_empty() => Err(denied("run", None)),
                // Who wrote it has approved it.
                _ => Ok(edited),
            },
            Verdict::No { reason } => {
                Err(denied(&format!("run {}", short(line, 60)), reason.as_deref()))
            }
        }
    }

    /// Why no rule lets a line pass that it covers: where it goes to, or what it reads as a whole.
    fn beyond(&self, line: &str) -> Option<&'static str> {
        let folders = folders_of(line);
        let is_out = |text: &String| self.fence.resolve(text, Aim::Read).is_err();
        let has_secret = |text: &String| {
            let path = self.fence.resolve(text, Aim::Read);
            path.is_ok_and(|path| path.is_dir() && self.fence.has_secret_below(&path))
        };
        if folders.entered.iter().any(|text| text.starts_with('~') || is_out(text)) {
            return Some("it leaves the folders of the agent");
        }
        if folders.read_below.iter().any(is_out) {
            return Some("it reads what is outside of the folders of the agent");
        }
        let is_kept = folders.read_below.iter().any(has_secret);
        is_kept.then_some("it reads a folder in which keys or passwords may be kept")
    }

    fn keep_before(&mut self, line: &str) -> Result<Option<Kept>, Outcome> {
        let Some(keeper) = &mut self.keeper else { return Ok(None) };
        if only_reads(line) {
            return Ok(None);
        }
        let kept = keeper.before_command(&self.fence, line);
        kept.map(Some)
            .map_err(|error| refused(format!("not run: what is there could not be kept: {error}")))
    }

    /// A remark for the person about what can be undone.
    fn keep_after(&mut self, kept: Option<Kept>) -> String {
        let (Some(keeper), Some(kept)) = (&mut self.keeper, kept) else { return String::new() };
        match kept {
            Kept::Nothing(why) => format!("; its changes cannot be rolled back: {why}"),
            Kept::At(number) => match keeper.after_command(&self.fence, number) {
                Ok(Some(number)) => format!(" (checkpoint {number})"),
                Ok(None) => String::new(),
                Err(error) => format!("; what it changed could not be found out: {error}"),
            },
        }
    }

    fn run(&self, line: &str, timeout: Duration) -> io::Result<(End, Pile)> {
        let (reader, writer) = io::pipe()?;
        let mut command = self.process(line)?;
        command
            .current_dir(self.fence.working())
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        let mut child = command.spawn()?;
        // Our own copies of the writing end go with it, so that the reader sees the end.
        drop(command);
        let pieces = read_on(reader);
        let mut pile = Pile::new(self.output_cap);
        let end = self.wait(&mut child, &pieces, &mut pile, timeout);
        // What it left running is ended with it.
        platform::end_all(&mut child, Firmness::Forced);
        let _ = child.wait();
        let until = Instant::now() + LAST_WORDS;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            match pieces.recv_timeout(left) {
                Ok(piece) => pile.push(&piece),
                Err(_) => break,
            }
        }
        Ok((end?, pile))
    }

    fn wait(
        &self,
        child: &mut Child,
        pieces: &Receiver<Vec<u8>>,
        pile: &mut Pile,
        timeout: Duration,
    ) -> io::Result<End> {
        let begun = Instant::now();
        let mut asked: Option<(Instant, End)> = None;
        let mut is_open = true;
        loop {
            match is_open.then(|| pieces.recv_timeout(STEP)) {
                Some(Ok(piece)) => pile.push(&piece),
                Some(Err(RecvTimeoutError::Disconnected)) => is_open = false,
                Some(Err(RecvTimeoutError::Timeout)) => {}
                None => std::thread::sleep(STEP),
            }
            if let Some(status) = child.try_wait()? {
                return Ok(asked.map_or(End::Itself(status), |(_, why)| why));
            }
            if asked.as_ref().is_some_and(|(at, _)| at.elapsed() > GRACE) {
                platform::end_all(child, Firmness::Forced);
                child.wait()?;
                return Ok(asked.map_or(End::TimeOut, |(_, why)| why));
            }
            let why = match asked.is_none() {
                true if self.cancel.load(Ordering::Relaxed) => End::Cancelled,
                true if begun.elapsed() > timeout => End::TimeOut,
                _ => continue,
            };
            platform::end_all(child, Firmness::Asked);
            asked = Some((Instant::now(), why));
        }
    }
}

/// Reads what a command prints, piece by piece, as long as somebody listens.
fn read_on(mut reader: PipeReader) -> Receiver<Vec<u8>> {
    const PIECES: usize = 16;
    let (sender, receiver) = mpsc::sync_channel(PIECES);
    std::thread::spawn(move || {
        let mut piece = vec![0; 64 * 1024];
        while let Ok(count) = reader.read(&mut piece) {
            if count == 0 || sender.send(piece[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn not_run(why: &str) -> Outcome {
    Outcome { shown: Some(format!("not run: {why}")), ..refused(format!("not run: {why}")) }
}

impl End {
    fn how(&self, timeout: Duration) -> String {
        match self {
            End::Itself(status) if status.success() => "exit code 0".to_owned(),
            End::Itself(status) => match status.code() {
                Some(code) => format!("exit code {code}"),
                None => status.to_string(),
            },
            End::TimeOut => format!("ended after {} seconds: it took too long", timeout.as_secs()),
            End::Cancelled => "cancelled by the user".to_owned(),
        }
    }
}

fn told(end: &End, pile: &Pile, how: &str, shown: String) -> Outcome {
    let printed = if pile.is_empty() { "(it printed nothing)\n".to_owned() } else { pile.text() };
    let printed = if printed.ends_with('\n') { printed } else { printed + "\n" };
    Outcome {
        is_error: !matches!(end, End::Itself(status) if status.success()),
        ends_turn: matches!(end, End::Cancelled),
        ..done(format!("{printed}({how})"), shown)
    }
}
