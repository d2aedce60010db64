//! What is asked before a change, as a person sees it: all of it, and what each answer would do.

use hermes_agent::approval::{Kind, Request, Verdict};

use super::clean::exact;
use crate::output::{BAD, BOLD, CARE, DIM, GOOD};

/// One answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// This is what was decided.
    Decided(Verdict),
    /// Let it be edited first.
    Edit,
    /// Say what the answers mean.
    Explain,
    /// It is not understood.
    Again,
}

/// What is shown before the question.
pub(super) fn shown(request: &Request, is_styled: bool) -> String {
    let title = exact(&request.title).replace('\n', " ");
    let mut text = match is_styled {
        true => format!("{CARE}?{CARE:#} {BOLD}{title}{BOLD:#}\n"),
        false => format!("? {title}\n"),
    };
    for line in exact(&request.detail).lines() {
        text.push_str(&detail_line(request.kind, line, is_styled));
    }
    if request.kind == Kind::Run {
        let folder = exact(&request.folder.display().to_string());
        text.push_str(&match is_styled {
            true => format!("  {DIM}in {folder}{DIM:#}\n"),
            false => format!("  in {folder}\n"),
        });
    }
    if let Some(confinement) = &request.confinement {
        text.push_str(&match is_styled {
            true => format!("  {DIM}{confinement}{DIM:#}\n"),
            false => format!("  {confinement}\n"),
        });
    }
    text
}

/// The question itself: the answers that this request takes.
pub(super) fn question(request: &Request) -> String {
    let mut answers = vec!["y once"];
    if request.always.is_some() {
        answers.push("a always");
    }
    answers.push("n no");
    if request.editable.is_some() {
        answers.push("e edit");
    }
    answers.push("? explain");
    format!("  do it? [{}] (no)", answers.join(" · "))
}

/// What the answers mean for this request.
pub(super) fn explained(request: &Request) -> String {
    let what = match request.kind {
        Kind::Write => {
            "write the file as shown; the old version is saved, and /rollback restores it"
        }
        Kind::Run => "run the command as shown, in the folder shown",
        Kind::Forget => "remove what is shown",
        Kind::Skill => "save or delete the skill, as shown",
    };
    let mut text = format!("  y  {what}\n");
    if let Some(always) = &request.always {
        let always = exact(always);
        text.push_str(&format!("  a  do it, and do not ask again in this session for: {always}\n"));
    }
    text.push_str("  n  do not do it, and tell the model; you can add a reason after the n\n");
    if request.editable.is_some() {
        text.push_str("  e  edit it first; the edited version is used\n");
    }
    text.push_str("  Enter alone, Ctrl-C and Ctrl-D mean no\n");
    text
}

/// What an answer means; nothing typed is a no.
pub(super) fn read(answer: &str, request: &Request) -> Answer {
    let answer = answer.trim();
    let (word, reason) = answer.split_once(char::is_whitespace).unwrap_or((answer, ""));
    let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    match word.to_lowercase().as_str() {
        "y" | "yes" if reason.is_none() => Answer::Decided(Verdict::Once),
        "a" | "always" if reason.is_none() && request.always.is_some() => {
            Answer::Decided(Verdict::Always)
        }
        "" | "n" | "no" => Answer::Decided(Verdict::No { reason }),
        "e" | "edit" if request.editable.is_some() => Answer::Edit,
        "?" | "h" | "help" => Answer::Explain,
        _ => Answer::Again,
    }
}

/// A difference has its colours; a command stands out from what is said around it.
pub(super) fn detail_line(kind: Kind, line: &str, is_styled: bool) -> String {
    let style = match (kind, line.chars().next()) {
        (Kind::Run, _) => BOLD,
        (_, Some('+')) => GOOD,
        (_, Some('-')) => BAD,
        (_, Some('@')) => DIM,
        _ => anstyle::Style::new(),
    };
    match is_styled {
        true => format!("  {style}{line}{style:#}\n"),
        false => format!("  {line}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Request {
        Request {
            kind: Kind::Run,
            title: "run a command".to_owned(),
            detail: text.to_owned(),
            folder: "/work".into(),
            always: Some("cargo test".to_owned()),
            editable: Some(text.to_owned()),
            confinement: Some("confined; it has no network".to_owned()),
        }
    }

    #[test]
    fn everything_that_would_happen_is_shown() {
        let text = shown(&command("cargo test\u{1b}[2K\n  --all\u{200b}"), false);
        assert_eq!(
            text,
            "? run a command\n  cargo test␛[2K\n    --all<U+200B>\n  in /work\n  confined; it has no network\n"
        );
        assert!(!shown(&command("\u{202e}x"), true).contains('\u{202e}'));
    }

    #[test]
    fn nothing_typed_is_a_no() {
        let request = command("ls");
        assert_eq!(read("", &request), Answer::Decided(Verdict::No { reason: None }));
        assert_eq!(read("Y", &request), Answer::Decided(Verdict::Once));
        assert_eq!(read("a", &request), Answer::Decided(Verdict::Always));
        let reason = Some("use make".to_owned());
        assert_eq!(read("n use make", &request), Answer::Decided(Verdict::No { reason }));
        assert_eq!(read("e", &request), Answer::Edit);
        assert_eq!(read("?", &request), Answer::Explain);
        assert_eq!(read("sure", &request), Answer::Again);
        assert_eq!(read("yes please", &request), Answer::Again);
    }

    #[test]
    fn only_what_the_request_takes_can_be_answered() {
        let request = Request { always: None, editable: None, ..command("ls") };
        assert_eq!(read("a", &request), Answer::Again);
        assert_eq!(read("e", &request), Answer::Again);
        assert_eq!(question(&request), "  do it? [y once · n no · ? explain] (no)");
        assert!(question(&command("ls")).contains("a always"));
        assert!(explained(&command("ls")).contains("for: cargo test"));
    }
}
