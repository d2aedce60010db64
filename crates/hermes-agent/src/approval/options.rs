//! Which options of programs do no more than the rule that covers them says: not one that runs or writes elsewhere. Pure.

use super::shell::Word;

/// A program that can run or write elsewhere by its options, and those that do not.
struct Program {
    name: &'static str,
    /// The subcommands these options are for; none: it has no subcommands.
    subcommands: &'static [&'static str],
    /// Options of one letter; a colon behind one says that it takes a value, `%` that it takes a number if any, and `#`
    /// before all that a number is one.
    letters: &'static str,
    /// Options of a word, without their dashes.
    words: &'static [&'static str],
    /// Whether `NAME=value` among the arguments sets a variable of the program.
    sets_variables: bool,
}

const NONE: Program =
    Program { name: "", subcommands: &[], letters: "", words: &[], sets_variables: false };

/// What is not here has no options that are known, and asks.
#[rustfmt::skip]
const PROGRAMS: &[Program] = &[
    Program {
        name: "git", subcommands: &["diff", "log", "show", "shortlog", "whatchanged", "diff-tree", "diff-index", "range-diff"],
        letters: "#pusaqwbzRMCBDimrtcn:U:S:G:L:EFPl:v",
        words: &[
            "stat", "shortstat", "numstat", "name-only", "name-status", "cached", "staged", "color", "no-color",
            "word-diff", "oneline", "graph", "decorate", "no-decorate", "all", "since", "until", "after", "before",
            "author", "committer", "grep", "max-count", "follow", "patch", "no-patch", "unified", "ignore-all-space",
            "ignore-space-change", "ignore-blank-lines", "check", "summary", "reverse", "merges", "no-merges",
            "first-parent", "abbrev-commit", "abbrev", "pretty", "format", "date", "relative-date", "no-ext-diff",
            "no-textconv", "minimal", "patience", "histogram", "diff-filter", "find-renames", "find-copies",
            "exit-code", "quiet", "text", "raw", "full-index", "binary", "merge-base", "left-right", "cherry-pick",
            "no-renames", "compact-summary", "dirstat", "relative", "no-prefix", "topo-order", "date-order", "tags",
            "branches", "remotes", "skip", "numbered", "email", "ignore-case", "root",
        ], ..NONE
    },
    Program {
        name: "git", subcommands: &["status", "ls-files", "ls-tree", "rev-parse", "rev-list", "blame", "describe", "name-rev", "cat-file", "merge-base", "reflog", "check-ignore"],
        letters: "#sbuvzocdmktpwelrCMn:L:",
        words: &[
            "short", "branch", "porcelain", "long", "untracked-files", "ignored", "show-stash", "verbose", "cached",
            "deleted", "modified", "others", "stage", "exclude-standard", "full-name", "name-only", "abbrev-ref",
            "show-toplevel", "is-inside-work-tree", "git-dir", "verify", "quiet", "short-hash", "all", "count",
            "max-count", "since", "until", "line-porcelain", "date", "tags", "always", "long", "dirty", "batch-check",
            "first-parent", "no-merges", "abbrev", "symbolic-full-name", "error-unmatch",
        ], ..NONE
    },
    Program {
        name: "git", subcommands: &["add", "commit", "rm", "mv", "restore", "reset", "stash", "tag", "branch", "switch", "checkout", "merge", "cherry-pick", "revert", "init"],
        letters: "AaupnvfNsqm:kbBcCdDrWS",
        words: &[
            "all", "update", "patch", "dry-run", "verbose", "force", "intent-to-add", "message", "amend", "no-edit",
            "allow-empty", "signoff", "quiet", "fixup", "squash", "date", "author", "no-verify", "cached", "staged",
            "worktree", "source", "soft", "mixed", "hard", "keep", "include-untracked", "list", "delete", "annotate",
            "create", "detach", "track", "no-track", "show-current", "merged", "no-merged", "contains", "sort",
            "ff", "no-ff", "ff-only", "abort", "continue", "skip", "no-commit", "ours", "theirs", "move", "copy", "remotes",
        ], ..NONE
    },
    Program {
        name: "git", subcommands: &["fetch", "pull", "push", "ls-remote"],
        letters: "apqvtnj:u",
        words: &[
            "all", "prune", "tags", "no-tags", "depth", "dry-run", "verbose", "quiet", "jobs", "progress", "rebase",
            "no-rebase", "ff-only", "ff", "no-ff", "unshallow", "set-upstream", "autostash", "heads", "refs", "porcelain",
        ], ..NONE
    },
    Program {
        name: "git", subcommands: &["grep"],
        letters: "#nilcwveEFPhHoq",
        words: &["line-number", "ignore-case", "files-with-matches", "count", "word-regexp", "heading", "break", "show-function", "cached", "name-only", "column"],
        ..NONE
    },
    Program {
        name: "cargo",
        subcommands: &["test", "build", "check", "clippy", "fmt", "doc", "run", "bench", "tree", "metadata", "nextest", "clean", "t", "b", "c", "r", "d"],
        letters: "p:F:rqvj:e:i:E:",
        words: &[
            "workspace", "all", "package", "exclude", "lib", "bins", "bin", "test", "tests", "example", "examples",
            "bench", "benches", "all-targets", "all-features", "features", "no-default-features", "release", "profile",
            "locked", "offline", "frozen", "no-run", "no-fail-fast", "quiet", "verbose", "jobs", "color",
            "message-format", "doc", "keep-going", "ignore-rust-version", "no-deps", "check", "fix", "allow-dirty",
            "allow-staged", "edges", "depth", "invert", "format-version", "document-private-items", "run-ignored",
            "filter-expr", "retries", "no-capture", "nocapture", "test-threads",
        ], ..NONE
    },
    Program {
        name: "make", letters: "ksnBwj%l%", sets_variables: true,
        words: &["jobs", "keep-going", "silent", "quiet", "dry-run", "just-print", "recon", "always-make", "no-print-directory", "print-directory", "output-sync", "load-average", "no-silent"],
        ..NONE
    },
    Program {
        name: "npm", subcommands: &["test", "t", "run", "run-script", "ci", "ls", "list", "outdated", "audit", "view", "start"],
        letters: "sw:D",
        words: &["silent", "if-present", "workspace", "workspaces", "omit", "include", "no-audit", "no-fund", "json", "long", "depth", "all", "production"],
        ..NONE
    },
    Program {
        name: "pnpm", subcommands: &["test", "t", "run", "ls", "list", "outdated", "audit", "why", "start"],
        letters: "rwD", words: &["recursive", "filter", "if-present", "silent", "json", "long", "depth", "prod", "dev", "workspace-root"], ..NONE
    },
    Program {
        name: "yarn", subcommands: &["test", "run", "list", "outdated", "audit", "why", "start"],
        letters: "s", words: &["silent", "json", "depth", "pattern"], ..NONE
    },
    Program {
        name: "pytest", letters: "qvxk:m:slr:n:",
        words: &[
            "tb", "maxfail", "lf", "ff", "nf", "sw", "durations", "collect-only", "co", "disable-warnings", "no-header",
            "no-summary", "color", "stepwise", "last-failed", "failed-first", "exitfirst", "verbose", "quiet", "capture", "numprocesses",
        ], ..NONE
    },
    Program {
        name: "go", subcommands: &["test", "build", "vet", "run", "list", "fmt", "doc", "env", "version"],
        letters: "vnxap:",
        words: &["run", "v", "race", "count", "cover", "short", "timeout", "bench", "benchmem", "tags", "json", "failfast", "parallel", "cpu", "shuffle", "skip", "m", "deps"],
        ..NONE
    },
    Program {
        name: "rg", letters: "#nilcwvxFoUSsHhqNIVPg:t:T:A:B:C:m:e:M:j:r:",
        words: &[
            "line-number", "ignore-case", "files-with-matches", "count", "word-regexp", "invert-match", "fixed-strings",
            "only-matching", "multiline", "smart-case", "case-sensitive", "with-filename", "no-filename", "quiet",
            "glob", "iglob", "type", "type-not", "after-context", "before-context", "context", "max-count", "max-depth",
            "files", "json", "stats", "sort", "sortr", "heading", "no-heading", "column", "color", "trim", "replace", "vimgrep",
        ], ..NONE
    },
    Program {
        name: "sort", letters: "nrufhVbdcszgMk:t:",
        words: &["numeric-sort", "reverse", "unique", "ignore-case", "human-numeric-sort", "version-sort", "key", "field-separator", "check", "stable", "zero-terminated"],
        ..NONE
    },
    Program {
        name: "ruff", subcommands: &["check", "format"], letters: "qvn", words: &["check", "diff", "fix", "quiet", "select", "ignore", "statistics", "output-format"], ..NONE
    },
    Program {
        name: "tsc", letters: "pbw", words: &["noEmit", "build", "watch", "pretty", "strict", "incremental", "skipLibCheck"], ..NONE
    },
];

/// Programs of which every argument may run or write elsewhere: a rule covers its own words alone.
#[rustfmt::skip]
const ONLY_AS_SAID: &[&str] = &[
    "ansible", "apt", "apt-get", "at", "batch", "bc", "cmake", "crontab", "curl", "dc", "docker", "dpkg", "ed", "emacs", "ex",
    "expect", "ftp", "gdb", "git-shell", "gsed", "helm", "java", "kubectl", "less", "lldb", "man", "more", "mount", "mysql", "nano",
    "nc", "ncat", "openssl", "perf", "podman", "psql", "rpm", "rsync", "scp", "screen", "sed", "sftp", "socat", "sqlite3",
    "systemctl", "systemd-run", "tar", "tclsh", "telnet", "terraform", "tmux", "uniq", "unzip", "vi", "view", "vim", "vimdiff",
    "wget", "yum", "zip",
];

/// Programs that run what a project says and whose options are not listed: none of them is known but these.
#[rustfmt::skip]
const RUNNERS: &[&str] = &[
    "bazel", "black", "brew", "bun", "bundle", "composer", "ctest", "deno", "dotnet", "eslint", "gem", "gh", "gradle", "jest",
    "just", "meson", "mix", "mvn", "mypy", "ninja", "nox", "nx", "pip", "pip3", "pipenv", "poetry", "prettier", "rake", "rustup",
    "swift", "tox", "uv", "vitest",
];
const OF_RUNNERS: Program = Program {
    letters: "qv",
    words: &["verbose", "quiet", "version", "help"],
    sets_variables: true,
    ..NONE
};

/// Options before a subcommand that change nothing of what it does.
const HARMLESS: &[&str] =
    &["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"];

/// The words of a command without options before the subcommand that change nothing.
pub(super) fn without_harmless(words: &[Word]) -> Vec<Word> {
    let is_git = words.first().is_some_and(|word| word.text == "git");
    let count = words[1..].iter().take_while(|word| HARMLESS.contains(&word.text.as_str())).count();
    match is_git && words.len() > count + 1 {
        true => words.iter().take(1).chain(&words[count + 1..]).cloned().collect(),
        false => words.to_vec(),
    }
}

/// Whether all that stands behind the first words of a command is known to do no more than these say.
pub(super) fn are_known(words: &[Word], from: usize) -> bool {
    let name = words[0].text.as_str();
    if words.len() <= from {
        return true;
    }
    if ONLY_AS_SAID.contains(&name) {
        return false;
    }
    if RUNNERS.contains(&name) {
        return OF_RUNNERS.knows(&words[from..]);
    }
    let mut of_program = PROGRAMS.iter().filter(|one| one.name == name).peekable();
    if of_program.peek().is_none() {
        return true;
    }
    let second = words.get(1).map_or("", |word| word.text.as_str());
    let fits = |one: &&Program| one.subcommands.is_empty() || one.subcommands.contains(&second);
    of_program.find(fits).is_some_and(|program| program.knows(&words[from..]))
}

impl Program {
    fn knows(&self, arguments: &[Word]) -> bool {
        let options = arguments.iter().take_while(|word| word.text != "--");
        options.into_iter().all(|word| self.knows_one(&word.text))
    }

    fn knows_one(&self, word: &str) -> bool {
        let Some(option) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            return !(self.sets_variables && word.contains('='));
        };
        // Some programs write their long options with one dash.
        let long = option.strip_prefix('-').unwrap_or(option);
        let name = long.split('=').next().unwrap_or(long);
        if self.words.contains(&name) && (option.starts_with('-') || name.len() > 1) {
            return true;
        }
        !option.starts_with('-') && self.knows_letters(option)
    }

    /// `-abc`, `-n5`, `-5`.
    fn knows_letters(&self, option: &str) -> bool {
        if self.letters.starts_with('#') && option.chars().all(|letter| letter.is_ascii_digit()) {
            return true;
        }
        for (place, letter) in option.char_indices() {
            let known = self.letters.find(letter).filter(|_| letter.is_ascii_alphabetic());
            let Some(at) = known else { return false };
            let rest = &option[place + 1..];
            match self.letters.as_bytes().get(at + 1) {
                Some(b':') => return true,
                Some(b'%') if rest.starts_with(|letter: char| letter.is_ascii_digit()) => {
                    return rest.chars().all(|letter| letter.is_ascii_digit());
                }
                _ => {}
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::shell::{Line, parse};

    fn known(line: &str, from: usize) -> bool {
        let Line::Plain(commands) = parse(line) else { panic!("{line}") };
        are_known(&without_harmless(&commands[0].words), from)
    }

    #[test]
    fn options_that_do_what_the_rule_says_are_known() {
        for (line, from) in [
            ("git diff --stat HEAD~2 -- src", 2),
            ("git log -5 --oneline --since=yesterday -p", 2),
            ("git log -n5", 1),
            ("git --no-pager log --graph", 2),
            ("git commit -am 'a message --output=x'", 2),
            ("git fetch --prune origin", 2),
            ("cargo test --workspace -p hermes --lib -- --nocapture --anything", 2),
            ("cargo clippy --all-targets -- -D warnings", 1),
            ("make -j8 check", 1),
            ("make --jobs=4", 1),
            ("npm run build --if-present", 2),
            ("pytest -xvs -k 'not slow' tests", 1),
            ("go test -run TestIt -count=1 ./...", 2),
            ("rg -n 'x' src", 1),
            ("sort -k2 -rn file", 1),
            ("mytool --whatever=it", 1),
            ("cat -n file", 1),
        ] {
            assert!(known(line, from), "{line}");
        }
    }

    #[test]
    fn options_that_run_or_write_elsewhere_and_those_nobody_knows_are_not() {
        for (line, from) in [
            ("git diff --output=/home/me/.bashrc", 2),
            ("git diff --outpu=x", 2),
            ("git diff --output x", 2),
            ("git log --ext-diff", 2),
            ("git fetch --upload-pack='touch owned' .", 2),
            ("git fetch --upload-pac=x .", 2),
            ("git pull --upload-pack x", 2),
            ("git push --receive-pack=x", 2),
            ("git push --exec=x", 2),
            ("git push --force", 2),
            ("git grep -Otouch x", 2),
            ("git grep --open-files-in-pager=x y", 2),
            ("git config alias.x '!sh'", 1),
            ("git x", 1),
            ("git -C /elsewhere status", 1),
            ("git --exec-path=/tmp/x status", 1),
            ("git -c core.pager=x log", 1),
            ("git rebase --exec x", 1),
            ("git archive --output=x HEAD", 1),
            ("git commit --template=x", 2),
            ("make --eval='x:;touch owned'", 1),
            ("make --eva=x", 1),
            ("make -f /tmp/Makefile", 1),
            ("make -C /tmp", 1),
            ("make SHELL=/tmp/x", 1),
            ("make -jf", 1),
            ("make -j8f x", 1),
            ("make -5", 1),
            ("cargo test --config build.rustc-wrapper='/tmp/x'", 2),
            ("cargo test --target-dir /tmp/x", 2),
            ("cargo build --manifest-path /tmp/Cargo.toml", 2),
            ("cargo build -Zunstable", 2),
            ("cargo install x", 1),
            ("npm run x --script-shell=/tmp/x", 2),
            ("npm run x --prefix /tmp", 2),
            ("pytest -p evil", 1),
            ("pytest --basetemp=/home/me", 1),
            ("pytest -c /tmp/x.ini", 1),
            ("go test -exec /tmp/x ./...", 2),
            ("go build -toolexec=/tmp/x", 2),
            ("go build -o /home/me/.bashrc", 2),
            ("rg --pre /tmp/x y", 1),
            ("rg --hidden TOKEN", 1),
            ("rg -uu TOKEN", 1),
            ("sort -o /home/me/.bashrc x", 1),
            ("sort --compress-program=/tmp/x y", 1),
            ("sed -i s/a/b/ x", 1),
            ("sed e x", 1),
            ("tar --to-command=sh -xf x", 1),
            ("curl -o x https://example.org", 1),
            ("rsync -e /tmp/x a b", 1),
            ("gradle -I /tmp/x.gradle build", 1),
            ("just --shell /tmp/x build", 1),
            ("pip install --target /home/me x", 2),
        ] {
            assert!(!known(line, from), "{line}");
        }
    }
}
