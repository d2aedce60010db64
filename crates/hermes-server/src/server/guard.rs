//! Who may knock: the Host and Origin of a request. Pure.

use std::net::SocketAddr;

/// The names by which the listener may be called.
#[derive(Debug, Clone)]
pub(super) struct Hosts {
    /// Names without a port, in lower case.
    names: Vec<String>,
    /// Those of them that stand in the settings: a proxy in front has a port of its own.
    allowed: Vec<String>,
    port: u16,
}

/// Names that every program on this machine answers to, on a port of its own.
const SHARED: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Why a request is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It calls us by a name that is not ours.
    Host,
    /// A page of another site sent it.
    Origin,
}

impl Hosts {
    /// Those of the settings, and the names of loopback or, where it listens on one other address alone, that one.
    pub(super) fn new(address: SocketAddr, allowed: &[String]) -> Hosts {
        let allowed: Vec<String> = allowed.iter().map(|name| name.trim().to_lowercase()).collect();
        let mut names = allowed.clone();
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            names.extend(SHARED.map(str::to_owned));
        } else {
            names.push(match address {
                SocketAddr::V4(address) => address.ip().to_string(),
                SocketAddr::V6(address) => format!("[{}]", address.ip()),
            });
        }
        Hosts { names, allowed, port: address.port() }
    }

    /// The same with a name that no other program on this machine is called by.
    pub(super) fn with_own(mut self, name: &str) -> Hosts {
        self.names.push(name.to_lowercase());
        self
    }

    /// Whether a request calls us by a name that other programs on this machine have, too: a browser sends a cookie to
    /// all of them, whatever their port.
    pub(super) fn is_shared(&self, host: Option<&str>) -> bool {
        let name = host.and_then(split).map(|(name, _)| name.to_lowercase());
        name.is_none_or(|name| SHARED.contains(&name.as_str()))
    }

    /// Checks the two headers; a request without a Host is nobody's.
    pub(super) fn check(&self, host: Option<&str>, origin: Option<&str>) -> Result<(), Refused> {
        if !host.is_some_and(|host| self.is_ours(host)) {
            return Err(Refused::Host);
        }
        match origin {
            None => Ok(()),
            Some(origin) if self.is_own_origin(origin) => Ok(()),
            Some(_) => Err(Refused::Origin),
        }
    }

    /// `name` or `name:port`, with our port if one is named and the name is that of this listener.
    fn is_ours(&self, authority: &str) -> bool {
        let Some((name, port)) = split(authority) else { return false };
        let name = name.to_lowercase();
        let with_port = format!("{name}:{}", port.unwrap_or_default());
        // A name with a port in the settings stands for itself: a proxy in front has a port of its own.
        if port.is_some() && self.names.contains(&with_port) {
            return true;
        }
        self.names.contains(&name)
            && port.is_none_or(|port| port == self.port || self.is_foreign(&name))
    }

    /// Whether the name comes from the settings, so that its port is not ours to judge.
    fn is_foreign(&self, name: &str) -> bool {
        !SHARED.contains(&name) && self.allowed.iter().any(|allowed| allowed == name)
    }

    fn is_own_origin(&self, origin: &str) -> bool {
        let plain = origin.strip_prefix("http://").map(|authority| (authority, 80));
        let Some((authority, usual)) =
            plain.or_else(|| origin.strip_prefix("https://").map(|authority| (authority, 443)))
        else {
            return false;
        };
        // An origin without a port is that of the usual one, which may be another program's.
        let is_here = split(authority).is_some_and(|(name, port)| {
            port.is_some() || usual == self.port || self.is_foreign(&name.to_lowercase())
        });
        is_here && self.is_ours(authority)
    }
}

/// A name and its port; none for anything else that could stand in an address.
fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let (name, rest) = match authority.strip_prefix('[') {
        Some(inside) => {
            let end = inside.find(']')?;
            let is_address =
                inside[..end].bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':');
            is_address.then_some(())?;
            authority.split_at(end + 2)
        }
        None => {
            let end = authority.find(':').unwrap_or(authority.len());
            let (name, rest) = authority.split_at(end);
            (!name.is_empty() && name.bytes().all(is_plain)).then_some(())?;
            (name, rest)
        }
    };
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Some((name, None)),
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((name, Some(port.parse().ok()?)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Hosts {
        Hosts::new("127.0.0.1:8420".parse().unwrap(), &["memory.example".to_owned()])
            .with_own("hermes-1.localhost")
    }

    #[test]
    fn only_our_names_are_answered() {
        let good = [
            "127.0.0.1:8420",
            "localhost:8420",
            "LOCALHOST",
            "[::1]:8420",
            "memory.example",
            "memory.example:443",
            "hermes-1.localhost:8420",
        ];
        for host in good {
            assert_eq!(hosts().check(Some(host), None), Ok(()), "{host}");
        }
        let bad = [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example:8420",
            "127.0.0.1:80",
            "127.evil",
            "127.0.0.2",
            "user@localhost:8420",
            "localhost:8420@evil.example",
            "localhost:",
            "localhost:abc",
            "localhost:99999",
            "localhost/",
            "[::1",
            "[::1]x",
            "::1",
            "0x7f.0.0.1",
            "127.1",
            "2130706433",
            "localhost.",
            "memory.example.",
            "evil.example:8420",
            "localhost,evil",
        ];
        for host in bad {
            assert_eq!(hosts().check(Some(host), None), Err(Refused::Host), "{host}");
        }
        assert_eq!(hosts().check(None, None), Err(Refused::Host));
    }

    #[test]
    fn only_pages_of_our_own_may_ask() {
        let check = |origin| hosts().check(Some("localhost:8420"), Some(origin));
        let good = [
            "http://localhost:8420",
            "http://127.0.0.1:8420",
            "http://hermes-1.localhost:8420",
            "https://memory.example",
        ];
        for origin in good {
            assert_eq!(check(origin), Ok(()), "{origin}");
        }
        let bad = [
            "null",
            "",
            "http://evil.example",
            "http://localhost:3000",
            "http://localhost",
            "https://localhost",
            "http://127.0.0.1",
            "http://hermes-1.localhost",
            "http://hermes-1.localhost:3000",
            "http://hermes-2.localhost:8420",
            "file://",
            "localhost:8420",
            "http://localhost.evil.example:8420",
            "http://localhost:8420.evil.example",
            "ftp://localhost:8420",
        ];
        for origin in bad {
            assert_eq!(check(origin), Err(Refused::Origin), "{origin}");
        }
    }

    #[test]
    fn a_listener_on_every_address_answers_to_loopback_and_the_names_of_the_settings_alone() {
        let open = Hosts::new("0.0.0.0:443".parse().unwrap(), &["memory.example".to_owned()]);
        assert_eq!(open.check(Some("memory.example"), None), Ok(()));
        assert_eq!(open.check(Some("localhost:443"), None), Ok(()));
        assert_eq!(open.check(Some("192.168.1.4"), None), Err(Refused::Host));
        let one = Hosts::new("192.168.1.4:443".parse().unwrap(), &[]);
        assert_eq!(one.check(Some("192.168.1.4:443"), None), Ok(()));
        assert_eq!(one.check(Some("localhost"), None), Err(Refused::Host));
        let origin = |origin| one.check(Some("192.168.1.4:443"), Some(origin));
        assert_eq!(origin("https://192.168.1.4"), Ok(()));
        assert_eq!(origin("https://192.168.1.4:9999"), Err(Refused::Origin));
    }

    #[test]
    fn names_that_other_programs_have_too_are_known() {
        for host in ["localhost:8420", "127.0.0.1", "[::1]:8420", "LocalHost", "??"] {
            assert!(hosts().is_shared(Some(host)), "{host}");
        }
        assert!(hosts().is_shared(None));
        assert!(!hosts().is_shared(Some("hermes-1.localhost:8420")));
        assert!(!hosts().is_shared(Some("memory.example")));
    }
}
