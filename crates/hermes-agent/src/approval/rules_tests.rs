//! Rules cover what they name and nothing else.

use proptest::prelude::*;

use super::*;

fn rules(allow: &[&str], deny: &[&str]) -> Rules {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Rules { allow: owned(allow), deny: owned(deny), ..Rules::default() }
}

fn is_allowed(rules: &Rules, line: &str) -> bool {
    rules.on_command(line).decision == Decision::Allow
}

#[test]
fn a_rule_covers_its_command_with_whatever_follows() {
    let rules = rules(&["cargo test", "git status", "ls"], &[]);
    for line in ["cargo test", "cargo test --all -- x", "cargo test && git status", "ls src | ls"] {
        assert!(is_allowed(&rules, line), "{line}");
    }
    for line in [
        "cargo",
        "cargo build",
        "cargo testing",
        "cargo test && rm -rf /",
        "cargo test; rm x",
        "cargo test | sh",
        "cargo test & rm x",
        "cargo test\nrm x",
        "cargo test $(rm x)",
        "cargo test `rm x`",
        "cargo test \"$(rm x)\"",
        "cargo test > src/main.rs",
        "cargo test 2> x",
        "PATH=. cargo test",
        "./cargo test",
        "/tmp/cargo test",
        "cargo() { rm x; }; cargo test",
        "cargo test 'x",
        "ls ~/.ssh",
        "ls .env",
        "ls ~/.s*",
        "ls /home/*/.ssh",
    ] {
        assert!(!is_allowed(&rules, line), "{line}");
    }
}

#[test]
fn a_program_that_runs_others_is_covered_by_its_very_words_alone() {
    let rules = rules(&["env", "find", "xargs", "sh -c 'ls src'", "timeout 60 cargo test"], &[]);
    for line in ["env rm x", "find . -exec rm {} +", "find . -delete", "xargs rm", "env bash"] {
        assert!(!is_allowed(&rules, line), "{line}");
    }
    for line in ["find . -name x", "sh -c 'ls src'", "timeout 60 cargo test", "env"] {
        assert!(is_allowed(&rules, line), "{line}");
    }
}

#[test]
fn what_is_denied_is_denied_however_it_is_wrapped() {
    let rules = rules(&["git", "ls", "git push"], &["git push", "rm"]);
    for line in [
        "git push",
        "git push origin",
        "ls; git push",
        "ls $(git push)",
        "/usr/bin/git push",
        "sudo git push",
        "sh -c 'git push'",
        "bash -c \"rm x\"",
        "rm x",
        "if true; then rm x; fi",
        "env A=b rm x",
        "\\rm x",
        "find . -exec rm {} +",
    ] {
        assert!(matches!(rules.on_command(line).decision, Decision::Deny(_)), "{line}");
    }
    assert!(is_allowed(&rules, "git status"));
    assert!(is_allowed(&rules, "git commit -m 'do not rm it'"));
}

#[test]
fn a_star_behind_a_rule_changes_nothing() {
    let rules = rules(&["cargo test *"], &["git push *"]);
    assert!(is_allowed(&rules, "cargo test --lib") && !is_allowed(&rules, "cargo build"));
    assert!(matches!(rules.on_command("git push").decision, Decision::Deny(_)));
}

#[test]
fn what_is_dangerous_is_always_asked() {
    let mut rules = rules(&["rm", "curl", "sh", "shutdown"], &[]);
    for line in ["rm -rf /", "curl x | sh", "shutdown now"] {
        rules.always_run(line);
        let ruling = rules.on_command(line);
        assert_eq!(ruling.decision, Decision::Ask, "{line}");
        assert!(ruling.danger.is_some() && ruling.always.is_none(), "{line}");
    }
    assert!(is_allowed(&rules, "rm x"));
}

#[test]
fn always_covers_what_it_said() {
    let mut rules = rules(&[], &[]);
    let ruling = rules.on_command("cargo test --lib && python3 run.py x");
    assert_eq!(ruling.always.as_deref(), Some("`cargo test`, `python3 run.py x` exactly"));
    rules.always_run("cargo test --lib && python3 run.py x");
    for line in ["cargo test", "python3 run.py x", "cargo test --doc && python3 run.py x"] {
        assert!(is_allowed(&rules, line), "{line}");
    }
    for line in ["cargo run", "python3 run.py", "python3 run.py y", "python3 -c x"] {
        assert!(!is_allowed(&rules, line), "{line}");
    }
    assert_eq!(rules.on_command("a $(b)").always, None);
    rules.always_run("a $(b)");
    assert!(!is_allowed(&rules, "a $(b)"));
}

#[test]
fn writes_are_allowed_below_what_was_said_alone() {
    let mut rules = rules(&[], &[]);
    assert_eq!(rules.on_write(Path::new("/x/y")), Decision::Ask);
    rules.always_write(Path::new("/x"));
    assert_eq!(rules.on_write(Path::new("/x/y")), Decision::Allow);
    assert_eq!(rules.on_write(Path::new("/xy")), Decision::Ask);
}

#[test]
fn a_line_that_only_reads_is_known() {
    for line in ["ls -la", "git status && git diff", "cat a | grep b 2>/dev/null"] {
        assert!(only_reads(line), "{line}");
    }
    for line in ["cargo test", "ls > x", "git checkout x", "cat $(x)", "sed -i s/a/b/ x"] {
        assert!(!only_reads(line), "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever stands around it: a line with a command that is not allowed is not allowed.
    #[test]
    fn a_line_with_a_command_that_is_not_allowed_is_never_allowed(
        before in "(ls|cargo test)( [a-z./-]{1,6}){0,2}",
        glue in prop::sample::select(vec![
            " && ", "; ", " | ", " || ", "&", "\n", " $(", " `", " \"$(", " <(", " >(", " ; { ", "|&",
        ]),
        wrap in prop::sample::select(vec!["", "env ", "sudo ", "sh -c '", "X=1 ", "! ", "\\", "time "]),
        after in prop::sample::select(vec!["", ")", "`", ")\"", "; }", "'", " && ls", "\n"]),
    ) {
        let rules = rules(&["ls", "cargo test", "env", "sudo", "time"], &[]);
        let line = format!("{before}{glue}{wrap}touch owned{after}");
        prop_assert!(!is_allowed(&rules, &line), "{}", line);
    }

    /// No line at all makes the rules fail, and what is allowed is plain and covered word for word.
    #[test]
    fn what_is_allowed_consists_of_allowed_commands(line in "[lscargotest &|;$()`'\"<>\\\\\n=#~*{}-]{0,30}") {
        let rules = rules(&["ls", "cargo test"], &["rm"]);
        if is_allowed(&rules, &line) {
            let Line::Plain(commands) = shell::parse(&line) else { panic!("{line} is not plain") };
            for command in commands {
                let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
                prop_assert!(words[0] == "ls" || words.starts_with(&["cargo", "test"]), "{}", line);
            }
        }
    }
}
