//! Tests of alerts: once for each streak, by a command or to a web address.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;

use Happened::{Alerted, CreateFailed, Created, Drilled, PushFailed, Pushed, Reached, Verified};
use hermes_home::secret::Secret;

use super::*;

fn reason(about: About, colour: Colour, what: &str) -> Reason {
    Reason { about, colour, what: what.to_owned(), hint: String::new(), place: None }
}

fn standing(failures: u32, reasons: Vec<Reason>) -> Standing {
    let colour = reasons.iter().map(|reason| reason.colour).max().unwrap_or(Colour::Green);
    Standing { colour, reasons, newest: None, drilled: None, failures }
}

fn event(what: Happened, detail: &str) -> Event {
    let at = "2026-11-16T03:30:00Z".parse().unwrap();
    Event { at, what, id: None, place: None, detail: detail.to_owned() }
}

fn failed(failures: u32) -> Standing {
    let colour = if failures > 2 { Colour::Red } else { Colour::Amber };
    standing(
        failures,
        vec![reason(About::Attempts, colour, &format!("the last {failures} failed"))],
    )
}

#[test]
fn a_streak_of_failures_is_told_once_and_the_next_one_again() {
    let mut history = vec![event(Created, ""), event(CreateFailed, "")];
    assert_eq!(causes(&failed(1), &history, 2), [""; 0]);
    history.push(event(CreateFailed, ""));
    assert_eq!(causes(&failed(2), &history, 2), ["attempts"]);
    history.push(event(Alerted, "attempts"));
    for failures in 3..6 {
        history.push(event(CreateFailed, ""));
        assert_eq!(causes(&failed(failures), &history, 2), [""; 0]);
    }
    history.push(event(Created, ""));
    assert_eq!(causes(&standing(0, Vec::new()), &history, 2), [""; 0]);
    history.push(event(CreateFailed, ""));
    assert_eq!(causes(&failed(1), &history, 1), ["attempts"]);
}

#[test]
fn a_place_that_fails_is_told_once_for_each_streak_and_each_place() {
    let at = |what, place: &str| Event { place: Some(place.to_owned()), ..event(what, "no route") };
    let lost = |places: &[&str]| {
        let lost = |place: &&str| Reason {
            place: Some((*place).to_owned()),
            ..reason(About::Push, Colour::Amber, "the last push failed")
        };
        standing(0, places.iter().map(lost).collect())
    };
    let nas = "ssh://nas:22/srv";
    let mut history = vec![at(Pushed, nas), event(Created, ""), at(PushFailed, nas)];
    assert_eq!(causes(&lost(&[nas]), &history, 2), [""; 0], "once is not twice");
    history.extend([event(Created, ""), at(PushFailed, nas)]);
    assert_eq!(causes(&lost(&[nas]), &history, 2), ["push: ssh://nas:22/srv"]);
    history.extend([event(Alerted, "push: ssh://nas:22/srv"), event(Created, "")]);
    history.push(at(PushFailed, nas));
    assert_eq!(causes(&lost(&[nas]), &history, 2), [""; 0], "it was told");
    history.extend([at(PushFailed, "/mnt/b"), at(PushFailed, "/mnt/b")]);
    assert_eq!(causes(&lost(&[nas, "/mnt/b"]), &history, 2), ["push: /mnt/b"]);
    history.extend([at(Reached, nas), at(PushFailed, nas), at(PushFailed, nas)]);
    assert_eq!(causes(&lost(&[nas]), &history, 2), ["push: ssh://nas:22/srv"], "a new streak");
}

#[test]
fn red_is_told_and_amber_is_not() {
    let age = |colour, days: u32| {
        standing(0, vec![reason(About::Age, colour, &format!("the newest is {days} days old"))])
    };
    let mut history = vec![event(Created, "")];
    assert_eq!(causes(&age(Colour::Amber, 2), &history, 1), [""; 0]);
    assert_eq!(causes(&age(Colour::Red, 4), &history, 1), ["age"]);
    history.push(event(Alerted, "age"));
    assert_eq!(causes(&age(Colour::Red, 5), &history, 1), [""; 0], "older, but told");
}

#[test]
fn a_failed_check_is_told_once_however_many_good_backups_follow() {
    let wrong = |id: &str| {
        standing(
            0,
            vec![reason(About::Check, Colour::Red, &format!("backup {id} failed its check"))],
        )
    };
    let mut history = vec![event(Alerted, "check: backup a failed its check"), event(Created, "")];
    assert_eq!(causes(&wrong("a"), &history, 1), [""; 0]);
    assert_eq!(causes(&wrong("b"), &history, 1), ["check: backup b failed its check"]);
    history.push(event(Verified, ""));
    assert_eq!(causes(&wrong("a"), &history, 1).len(), 1, "it was right, and is wrong again");
    let drill = standing(0, vec![reason(About::DrillAge, Colour::Red, "no drill")]);
    history.push(event(Alerted, "drill_age"));
    assert_eq!(causes(&drill, &history, 1), [""; 0]);
    history.push(event(Drilled, ""));
    assert_eq!(causes(&drill, &history, 1), ["drill_age"]);
}

#[test]
fn a_command_line_is_words_and_quotes_and_nothing_else() {
    for (line, expected) in [
        ("notify-send hello", Some(&["notify-send", "hello"][..])),
        ("  mail -s 'backup failed'  a@b ", Some(&["mail", "-s", "backup failed", "a@b"])),
        (
            r#"sh -c "echo \"$HERMES_ALERT\" | tee x""#,
            Some(&["sh", "-c", "echo \"$HERMES_ALERT\" | tee x"]),
        ),
        (r"a\ b '' c\\", Some(&["a b", "", "c\\"])),
        ("echo $(id) ; rm", Some(&["echo", "$(id)", ";", "rm"])),
        ("", Some(&[])),
        ("a 'b", None),
        ("a \\", None),
    ] {
        let expected = expected.map(|words| words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn the_command_gets_the_message_twice_and_is_ended_when_it_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("told");
    let line = format!("sh -c 'cat > {0}; printf %s \"$HERMES_ALERT\" >> {0}'", file.display());
    run(&line, "red; $(id)", COMMAND_LIMIT).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "red; $(id)\nred; $(id)");
    let wrong = run("sh -c 'exit 3'", "x", COMMAND_LIMIT).unwrap_err();
    assert!(wrong.to_string().contains("exit status: 3"), "{wrong}");
    let begun = Instant::now();
    let late = run("sleep 60", "x", Duration::from_millis(50)).unwrap_err();
    assert!(
        late.to_string().contains("did not finish") && begun.elapsed() < Duration::from_secs(30)
    );
    assert!(run("/no/such/program", "x", COMMAND_LIMIT).is_err());
}

#[test]
fn the_web_address_gets_json_and_is_in_no_error() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hook-pa55", server.local_addr().unwrap());
    let answers = ["200 OK", "500 Broken"];
    let thread = std::thread::spawn(move || {
        answers.map(|answer| {
            let (mut stream, _) = server.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            while !head.ends_with("\r\n\r\n") {
                let begun = head.len();
                reader.read_line(&mut head).unwrap();
                let line = head[begun..].to_lowercase();
                if let Some(number) = line.strip_prefix("content-length:") {
                    length = number.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            stream
                .write_all(format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n").as_bytes())
                .unwrap();
            body
        })
    });
    let settings = Backup { alert_webhook: Some(Secret::new(address)), ..Backup::default() };
    let message = message(&failed(3), "box");
    assert_eq!(send(&settings, &message).unwrap(), ["the alert was sent to the webhook"]);
    let refused = send(&settings, &message).unwrap_err().to_string();
    assert!(refused.contains("responded with 500") && !refused.contains("pa55"), "{refused}");
    for body in thread.join().unwrap() {
        let told: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(told["text"], "backups of box are red: the last 3 failed");
        assert_eq!(told["colour"], "red");
    }
    assert_eq!(send(&Backup::default(), &message).unwrap(), [""; 0]);
}
