//! What a service manager reads: a unit of systemd, a plist of launchd, a line of cron. Pure.

use std::path::{Path, PathBuf};

/// The first line of every file that this program made for a service manager.
pub(crate) const MARK: &str =
    "# Made by `hermes service install`; `hermes service uninstall` removes it.";

/// What is to be started, and what it may write to.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    pub(crate) program: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) backups: PathBuf,
    /// Folders outside of the home that hold databases.
    pub(crate) elsewhere: Vec<PathBuf>,
    /// The user of a unit of the whole system.
    pub(crate) user: Option<String>,
}

impl Service {
    /// A unit of systemd.
    pub(crate) fn unit(&self) -> String {
        let user = self.user_line();
        let target = if self.user.is_some() { "multi-user.target" } else { "default.target" };
        format!(
            "{MARK}\n\
             [Unit]\n\
             Description=Hermes, the memory of AI agents\n\
             \n\
             [Service]\n\
             Type=exec\n\
             {user}ExecStart={} --home {} start --foreground\n\
             ExecReload=/bin/kill -HUP $MAINPID\n\
             Restart=on-failure\n\
             RestartSec=5\n\
             RestartPreventExitStatus=11\n\
             TimeoutStopSec=15\n\
             {}\
             \n\
             [Install]\n\
             WantedBy={target}\n",
            command_word(&self.program),
            command_word(&self.home),
            self.hardening()
        )
    }

    /// The user of a unit of the whole system.
    pub(crate) fn user_line(&self) -> String {
        self.user.as_ref().map(|user| format!("User={user}\n")).unwrap_or_default()
    }

    /// What a unit may do: write to the home, to the backups and where databases are, and nothing else.
    pub(crate) fn hardening(&self) -> String {
        let writable: Vec<String> = [quoted(&self.home, ""), quoted(&self.backups, "-")]
            .into_iter()
            .chain(self.elsewhere.iter().map(|folder| quoted(folder, "-")))
            .collect();
        // A home in /tmp would be hidden by a private one.
        let is_temporary = self.home.starts_with("/tmp");
        let private = if is_temporary { "ReadWritePaths=/tmp\n" } else { "PrivateTmp=yes\n" };
        format!(
            "UMask=0077\n\
             NoNewPrivileges=yes\n\
             ProtectSystem=strict\n\
             ReadWritePaths={}\n\
             {private}",
            writable.join(" ")
        )
    }

    /// A line of cron.
    pub(crate) fn cron_line(&self) -> String {
        let (program, home) = (shell_word(&self.program), shell_word(&self.home));
        format!("@reboot {program} --home {home} start --quiet > /dev/null {}", self.cron_mark())
    }

    /// How the line of this home is known in a crontab.
    pub(crate) fn cron_mark(&self) -> String {
        format!("# hermes: {}", self.home.display())
    }

    /// A plist of launchd.
    pub(crate) fn plist(&self, label: &str) -> String {
        let word = |text: &str| format!("    <string>{}</string>\n", xml(text));
        let (program, home) = (self.program.to_string_lossy(), self.home.to_string_lossy());
        let words: String =
            [&*program, "--home", &*home, "start", "--foreground"].map(word).concat();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
             \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
             <plist version=\"1.0\">\n<dict>\n\
             \x20 <key>Label</key>\n  <string>{}</string>\n\
             \x20 <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n\
             \x20 <key>RunAtLoad</key>\n  <true/>\n\
             \x20 <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n\
             \x20 <key>Umask</key>\n  <integer>63</integer>\n\
             </dict>\n</plist>\n",
            xml(label)
        )
    }
}

/// `hermes` for the usual home, else a name made of the path.
pub(crate) fn name(home: &Path, is_usual: bool) -> String {
    if is_usual {
        return "hermes".to_owned();
    }
    let plain: String = home
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    format!("hermes-{}", plain.trim_matches('-'))
}

/// The crontab with the line of this home and everything else as it was.
pub(crate) fn with_line(crontab: &str, service: &Service) -> String {
    with_marked(crontab, &service.cron_mark(), &service.cron_line())
}

/// The crontab without the line of this home.
pub(crate) fn without_line(crontab: &str, service: &Service) -> String {
    without_marked(crontab, &service.cron_mark())
}

/// The crontab with one line that ends with a mark, at its end, and everything else as it was.
pub(crate) fn with_marked(crontab: &str, mark: &str, line: &str) -> String {
    let mut text = without_marked(crontab, mark);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + line + "\n"
}

/// The crontab without the lines that end with a mark.
pub(crate) fn without_marked(crontab: &str, mark: &str) -> String {
    crontab.split_inclusive('\n').filter(|line| !line.trim_end().ends_with(mark)).collect()
}

/// A path in a list of systemd, where `%` and `\` mean something.
fn quoted(path: &Path, prefix: &str) -> String {
    let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{prefix}{}\"", text.replace('%', "%%"))
}

/// A word of a command line of systemd, where `$` means something too.
pub(crate) fn command_word(path: &Path) -> String {
    quoted(path, "").replace('$', "$$")
}

/// A word of a line of cron, where `%` ends the command.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\'', "'\\''").replace('%', "\\%");
    format!("'{text}'")
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(home: &str, user: Option<&str>) -> Service {
        Service {
            program: "/usr/bin/hermes".into(),
            home: home.into(),
            backups: format!("{home}-backups").into(),
            elsewhere: Vec::new(),
            user: user.map(str::to_owned),
        }
    }

    #[test]
    fn a_unit_names_the_home_and_may_write_to_nothing_else() {
        let unit = service("/home/a b/50%$x", None).unit();
        for line in [
            "Type=exec",
            "Restart=on-failure",
            "ProtectSystem=strict",
            "NoNewPrivileges=yes",
            "ReadWritePaths=\"/home/a b/50%%$x\" \"-/home/a b/50%%$x-backups\"",
            "ExecStart=\"/usr/bin/hermes\" --home \"/home/a b/50%%$$x\" start --foreground",
            "WantedBy=default.target",
        ] {
            assert!(unit.lines().any(|found| found == line), "{line}\n{unit}");
        }
        let system = service("/srv/agent", Some("alice")).unit();
        assert!(
            system.contains("User=alice\n") && system.contains("multi-user.target"),
            "{system}"
        );
    }

    #[test]
    fn a_crontab_keeps_every_other_line() {
        let ours = service("/home/alice/.hermes", None);
        let other = service("/srv/agent", None);
        let others = "# my jobs\n0 1 * * * backup\n";
        let before = with_line(others, &other);
        let once = with_line(&before, &ours);
        assert_eq!(with_line(&once, &ours), once, "the second time changes nothing");
        assert!(once.starts_with(&before));
        assert_eq!(without_line(&once, &ours), before);
        assert_eq!(with_line("", &ours).lines().count(), 1);
        assert!(
            with_line("0 1 * * * no line end", &ours).starts_with("0 1 * * * no line end\n@reboot")
        );
    }

    #[test]
    fn each_home_has_a_name_of_its_own() {
        assert_eq!(name(Path::new("/home/alice/.hermes"), true), "hermes");
        assert_eq!(name(Path::new("/srv/my agent"), false), "hermes-srv-my-agent");
    }
}
