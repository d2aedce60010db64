//! External memory providers: a setting of Hermes Agent that a home of our own cannot have yet.

use serde_json::Value;

use crate::config::keys::Key;
use crate::error::{Finding, Severity};
use crate::init::Owner;

/// The setting.
pub(crate) const KEY: &str = "memory.provider";
/// The name under which Hermes Agent asks this program: to us it means none.
const OURSELVES: &str = "hermes_memory";
/// What to do about a provider that cannot be asked.
const ADVICE: &str = "remove it with `hermes config unset memory.provider`; `hermes import` \
     imports the memory of other programs";

/// Why a value of a setting is refused: in a home of our own no provider is asked. In a home of Hermes Agent the
/// setting belongs to that program.
pub(crate) fn refusal(owner: Owner, key: &Key, value: &Value) -> Option<String> {
    let name = value.as_str().filter(|_| key.path == KEY && owner == Owner::Ours)?;
    (!name.is_empty() && name != OURSELVES).then(|| {
        format!("`{KEY}` is {name:?}, but this version cannot use an external memory provider")
    })
}

/// The same as a finding about the settings.
pub(crate) fn finding(
    owner: Owner,
    key: &Key,
    value: &Value,
    line: Option<usize>,
) -> Option<Finding> {
    let message = refusal(owner, key, value)?;
    Some(Finding {
        severity: Severity::Error,
        key: Some(KEY.to_owned()),
        line,
        message,
        hint: Some(ADVICE.to_owned()),
        is_unknown_key: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Config, Unknown};
    use crate::env::Env;
    use crate::error::{Error, Result};
    use crate::layout::{Home, Wanted};

    struct Case {
        _folder: tempfile::TempDir,
        home: Home,
        owner: Owner,
    }

    fn case(owner: Owner, text: &str) -> Case {
        let folder = tempfile::tempdir().unwrap();
        crate::atomic::write(&folder.path().join("config.yaml"), text.as_bytes()).unwrap();
        let wanted = Wanted { home: Some(folder.path().to_owned()), profile: None };
        let home = Home::locate(&wanted, &Env::default()).unwrap();
        Case { _folder: folder, home, owner }
    }

    impl Case {
        fn load(&self, env: &Env) -> Result<Config> {
            config::load(&self.home, self.owner, env, &[]).map(|loaded| loaded.config)
        }

        fn set(&self, value: &str) -> Result<()> {
            config::write_setting(&self.home, self.owner, KEY, value, Unknown::Refuse)
        }

        fn text(&self) -> String {
            config::read_text(&self.home.config()).unwrap().unwrap_or_default()
        }
    }

    #[test]
    fn a_provider_is_refused_in_a_home_of_our_own() {
        const TEXT: &str = "memory:\n  provider: honcho\n";
        let (ours, none) = (case(Owner::Ours, TEXT), Env::default());
        let said = ours.load(&none).unwrap_err().to_string();
        assert!(said.contains("honcho") && said.contains("cannot use"), "{said}");
        let found = config::check(&ours.home, Owner::Ours, &none, &[]).unwrap();
        assert!(found[0].hint.as_ref().unwrap().contains("config unset"), "{found:?}");
        let goes_on = config::load_forgiving(&ours.home, Owner::Ours, &none, &[]).unwrap();
        assert_eq!(goes_on.warnings.len(), 1, "a hook goes on");
        assert!(matches!(ours.set("mem0"), Err(Error::NoProviders { .. })));
        assert_eq!(ours.text(), TEXT);
        for value in [OURSELVES, ""] {
            ours.set(value).unwrap();
            assert_eq!(ours.load(&none).unwrap().memory.provider, value);
        }
        let env = Env::of([("HERMES_MEMORY__PROVIDER", "mem0")]);
        assert!(ours.load(&env).unwrap_err().to_string().contains("mem0"));
    }

    #[test]
    fn a_provider_is_left_alone_in_a_home_of_hermes_agent() {
        let theirs = case(Owner::HermesAgent, "_config_version: 1\nmemory:\n  provider: honcho\n");
        let none = Env::default();
        assert_eq!(theirs.load(&none).unwrap().memory.provider, "honcho");
        let found = config::check(&theirs.home, Owner::HermesAgent, &none, &[]).unwrap();
        assert!(found.is_empty(), "{found:?}");
        theirs.set("mem0").unwrap();
        assert_eq!(theirs.load(&none).unwrap().memory.provider, "mem0");
    }
}
