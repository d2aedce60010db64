//! What starts scheduled backups, as text: units of systemd, a line of cron. Pure.

use jiff::SignedDuration;
use jiff::civil::Time;

use crate::cli::service::text::{Service, command_word, shell_word};
use hermes_app::backup::record::By;

/// The first line of every unit that this program made for backups.
pub(super) const MARK: &str =
    "# Made by `hermes backup schedule install`; `hermes backup schedule remove` removes it.";

/// When backups are made.
#[derive(Debug, Clone)]
pub(super) struct Times {
    pub(super) time: Time,
    /// The time zone of the settings; none: the machine's.
    pub(super) zone: Option<String>,
    /// How many minutes later one may come.
    pub(super) delay_minutes: u32,
}

/// The unit that makes one backup.
pub(super) fn service(service: &Service) -> String {
    format!(
        "{MARK}\n\
         [Unit]\n\
         Description=Hermes backup\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         {}ExecStart={} --home {} --no-input backup create --scheduled {}\n\
         Nice=10\n\
         IOSchedulingClass=idle\n\
         {}",
        service.user_line(),
        command_word(&service.program),
        command_word(&service.home),
        By::Systemd.word(),
        service.hardening()
    )
}

/// The unit that starts the other one every night, and after a night that was missed.
pub(super) fn timer(times: &Times) -> String {
    let zone = times.zone.as_ref().map(|zone| format!(" {zone}")).unwrap_or_default();
    format!(
        "{MARK}\n\
         [Unit]\n\
         Description=Hermes backup every night\n\
         \n\
         [Timer]\n\
         OnCalendar=*-*-* {}{zone}\n\
         RandomizedDelaySec={}min\n\
         Persistent=true\n\
         \n\
         [Install]\n\
         WantedBy=timers.target\n",
        times.time.strftime("%H:%M:%S"),
        times.delay_minutes
    )
}

/// The line of cron; `later` is what chance adds to the time, once for this machine.
pub(super) fn cron_line(service: &Service, time: Time, later: SignedDuration) -> String {
    let time = time.wrapping_add(later);
    format!(
        "{} {} * * * {} --home {} --quiet --no-input backup create --scheduled {} > /dev/null {}",
        time.minute(),
        time.hour(),
        shell_word(&service.program),
        shell_word(&service.home),
        By::Cron.word(),
        cron_mark(service)
    )
}

/// How the line of this home is known in a crontab.
pub(super) fn cron_mark(service: &Service) -> String {
    format!("# hermes backup: {}", service.home.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(home: &str, user: Option<&str>) -> Service {
        Service {
            program: "/usr/bin/hermes".into(),
            home: home.into(),
            backups: "/mnt/b".into(),
            elsewhere: vec!["/mnt/nas".into()],
            user: user.map(str::to_owned),
        }
    }

    #[test]
    fn the_units_say_what_is_run_when_and_what_it_may_write_to() {
        let unit = service(&of("/home/a b/50%", None));
        for line in [
            "Type=oneshot",
            "UMask=0077",
            "ProtectSystem=strict",
            "ReadWritePaths=\"/home/a b/50%%\" \"-/mnt/b\" \"-/mnt/nas\"",
            "ExecStart=\"/usr/bin/hermes\" --home \"/home/a b/50%%\" --no-input \
             backup create --scheduled systemd",
        ] {
            assert!(unit.lines().any(|found| found == line), "{line}\n{unit}");
        }
        assert!(service(&of("/srv/x", Some("alice"))).contains("User=alice\nExecStart="));
        let zone = Some("Europe/Berlin".to_owned());
        let timer = timer(&Times { time: Time::constant(3, 30, 0, 0), zone, delay_minutes: 15 });
        for line in [
            "OnCalendar=*-*-* 03:30:00 Europe/Berlin",
            "RandomizedDelaySec=15min",
            "Persistent=true",
            "WantedBy=timers.target",
        ] {
            assert!(timer.lines().any(|found| found == line), "{line}\n{timer}");
        }
    }

    #[test]
    fn the_line_of_cron_comes_later_by_chance_and_quotes_its_words() {
        let service = of("/home/it's 5%", None);
        let late = SignedDuration::from_mins(7);
        assert_eq!(
            cron_line(&service, Time::constant(23, 55, 0, 0), late),
            "2 0 * * * '/usr/bin/hermes' --home '/home/it'\\''s 5\\%' --quiet --no-input \
             backup create --scheduled cron > /dev/null # hermes backup: /home/it's 5%"
        );
    }
}
