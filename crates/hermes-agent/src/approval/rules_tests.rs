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
fn options_between_the_words_do_not_hide_what_is_denied() {
    let rules = rules(&["git", "npm", "cat"], &["git push", "npm run deploy", "git reset --hard"]);
    for line in [
        "git --no-pager push",
        "git -C /elsewhere push",
        "git -c user.name=x push",
        "git --git-dir=x --work-tree y push --force",
        "git --bare push; cat x",
        "npm --prefix x run deploy",
        "npm run -s deploy",
        "git reset HEAD~1 --hard",
        "git reset --har HEAD~1",
        "sudo git --no-pager push",
        "x=$(git -P push)",
        "cargo +nightly test; git -p push",
    ] {
        assert!(matches!(rules.on_command(line).decision, Decision::Deny(_)), "{line}");
    }
    for line in ["git commit -m push", "git log -- push", "npm run build", "git reset --soft x"] {
        assert!(!matches!(rules.on_command(line).decision, Decision::Deny(_)), "{line}");
    }
}

#[test]
fn an_option_that_runs_or_writes_elsewhere_is_asked_about() {
    let rules = rules(&["git", "make", "cargo test", "grep", "cat", "mytool"], &[]);
    for line in [
        "git diff --output=x",
        "git fetch --upload-pack=x .",
        "make --eval=x",
        "cargo test --config x=y",
        "cat /proc/self/environ",
        "cat /proc/12/environ",
        "cat ../../proc/1/mem",
        "cat -- /proc/thread-self/maps",
        "grep x /proc/*/environ",
        "grep -f.env x",
        "git show HEAD:.env",
        "git log && git x",
    ] {
        let ruling = rules.on_command(line);
        assert_eq!(ruling.decision, Decision::Ask, "{line}");
    }
    for line in ["git --no-pager diff --stat", "make -j4 all", "cargo test --lib", "mytool --x=y"] {
        assert!(is_allowed(&rules, line), "{line}");
    }
}

#[test]
fn always_covers_very_words_where_an_option_is_not_known() {
    let mut rules = rules(&[], &[]);
    let line = "git diff --output=x";
    assert_eq!(rules.on_command(line).always.as_deref(), Some("`git diff --output=x` exactly"));
    rules.always_run(line);
    assert!(is_allowed(&rules, line) && !is_allowed(&rules, "git diff"));
    rules.always_run("git --no-pager diff --stat");
    assert!(is_allowed(&rules, "git diff -p") && !is_allowed(&rules, "git diff --output=y"));
}

#[test]
fn the_network_is_open_to_what_is_named_alone() {
    let mut rules = rules(&[], &[]);
    assert!(!rules.has_network("git fetch"));
    rules.network = vec!["git fetch".to_owned(), "cargo build".to_owned()];
    for line in ["git fetch", "git fetch --prune && cargo build", "git --no-pager fetch | cat"] {
        assert!(rules.has_network(line), "{line}");
    }
    for line in [
        "git push",
        "git fetch; curl x",
        "git fetch --upload-pack=x",
        "git fetch $(curl x)",
        "cat x",
        "sh -c 'git fetch'",
    ] {
        assert!(!rules.has_network(line), "{line}");
    }
    rules.network = vec!["*".to_owned()];
    assert!(rules.has_network("sh -c 'anything'"));
}

#[test]
fn folders_that_a_line_goes_to_or_reads_through_are_known() {
    let folders = |line: &str| {
        let Folders { read_below, entered } = folders_of(line);
        (read_below.join(","), entered.join(","))
    };
    for (line, read_below, entered) in [
        ("grep -r x", "x,.", ""),
        ("grep -rn x src lib", "x,src,lib", ""),
        ("grep -R x *", "x,*,.", ""),
        ("grep --recursive -e x", "x,.", ""),
        ("grep -d recurse x .", "recurse,x,.", ""),
        ("diff -r a b", "a,b", ""),
        ("grep x file", "", ""),
        ("cd src && ls", "", "src"),
        ("cd", "", "~"),
        ("cd a; cd ..", "", "a,.."),
    ] {
        assert_eq!(folders(line), (read_below.to_owned(), entered.to_owned()), "{line}");
    }
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
    for line in [
        "cargo test",
        "ls > x",
        "git checkout x",
        "cat $(x)",
        "sed -i s/a/b/ x",
        "git diff --output=x",
        "git log --output x",
    ] {
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

    /// Whatever a long option is called: unless it is in the list of its program, it is asked about.
    #[test]
    fn an_option_that_nobody_knows_is_never_covered(
        command in prop::sample::select(vec![
            "git diff", "git fetch", "git commit", "git status", "cargo test", "make", "npm run x", "go test", "rg x", "sort",
        ]),
        option in "x[a-z]{3,9}(-[a-z]{2,6})?",
        value in "(=[a-z/.]{1,8}| [a-z/.]{1,8})?",
    ) {
        let rules = rules(&["git", "cargo", "make", "npm", "go", "rg", "sort"], &[]);
        let line = format!("{command} --{option}{value}");
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
