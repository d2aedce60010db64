//! A connection string as pairs of key and value: `postgres://…`, or `host=… user=…` as libpq writes it.
//!
//! Nothing of the text is repeated in an error: half of a password may stand where a port or a key is expected.

use super::{bad, bad_with_hint};
use crate::Result;

/// What to do where a sign of the password was taken for a part of the address.
const ENCODE: &str =
    "write characters like @ : / ? # % in a user or password as %40 %3A %2F %3F %23 %25";

/// Every key with its value, in the order they were written.
pub(super) type Pairs = Vec<(String, String)>;

/// The pairs of a connection string, whichever of the two forms it has.
pub(super) fn pairs(text: &str) -> Result<Pairs> {
    let text = text.trim();
    for scheme in ["postgres://", "postgresql://"] {
        if let Some(rest) = strip_prefix_any_case(text, scheme) {
            return from_url(rest);
        }
    }
    if text.split(['=', ' ']).next().is_some_and(|start| start.contains("://")) {
        return Err(bad_with_hint(
            "it is the address of another kind of server",
            "write it like postgres://user@host:5432/database",
        ));
    }
    from_words(text)
}

fn strip_prefix_any_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// `[user[:password]@][host[:port]][,…][/database][?key=value&…]`
fn from_url(rest: &str) -> Result<Pairs> {
    let (before, query) = match rest.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (rest, None),
    };
    let (authority, database) = match before.split_once('/') {
        Some((authority, database)) => (authority, Some(database)),
        None => (before, None),
    };
    let beyond = [database, query].into_iter().flatten();
    if beyond.clone().any(|part| part.contains('@')) || rest.contains('#') {
        return Err(bad_with_hint(
            "its user or password has a character that must be encoded",
            ENCODE,
        ));
    }
    let mut pairs = Pairs::new();
    let hosts = match authority.rsplit_once('@') {
        Some((who, hosts)) => {
            take_who(who, &mut pairs)?;
            hosts
        }
        None => authority,
    };
    take_hosts(hosts, &mut pairs)?;
    if let Some(database) = database.filter(|database| !database.is_empty()) {
        pairs.push(("dbname".to_owned(), decoded(database)?));
    }
    for part in query.unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            return Err(bad_with_hint(
                "one of its parameters has no `=`",
                "write them like ?sslmode=verify-full",
            ));
        };
        pairs.push((decoded(key)?, decoded(value)?));
    }
    Ok(pairs)
}

fn take_who(who: &str, pairs: &mut Pairs) -> Result<()> {
    let (user, password) = match who.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (who, None),
    };
    if !user.is_empty() {
        pairs.push(("user".to_owned(), decoded(user)?));
    }
    if let Some(password) = password.filter(|password| !password.is_empty()) {
        pairs.push(("password".to_owned(), decoded(password)?));
    }
    Ok(())
}

fn take_hosts(hosts: &str, pairs: &mut Pairs) -> Result<()> {
    if hosts.is_empty() {
        return Ok(());
    }
    let mut names = Vec::new();
    let mut ports = Vec::new();
    for host in hosts.split(',') {
        let (name, port) = host_and_port(host)?;
        names.push(decoded(name)?);
        ports.push(port.to_owned());
    }
    pairs.push(("host".to_owned(), names.join(",")));
    if ports.iter().any(|port| !port.is_empty()) {
        pairs.push(("port".to_owned(), ports.join(",")));
    }
    Ok(())
}

/// A host and its port, if one was written; an IPv6 address stands in brackets.
fn host_and_port(host: &str) -> Result<(&str, &str)> {
    if let Some(rest) = host.strip_prefix('[') {
        let Some((name, after)) = rest.split_once(']') else {
            return Err(bad("an IPv6 address in it has no closing bracket"));
        };
        return Ok((name, after.strip_prefix(':').unwrap_or(after)));
    }
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    if !port.is_empty() && port.parse::<u16>().is_err() {
        return Err(bad_with_hint("the text after the host is not a port", ENCODE));
    }
    Ok((name, port))
}

/// The text with every %xx as the byte it stands for.
fn decoded(text: &str) -> Result<String> {
    let wrong = || bad_with_hint("a % in it is not followed by two hexadecimal digits", ENCODE);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte =
            digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or_else(wrong)?;
        bytes.push(byte);
        rest = &after[2..];
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(bad("its %xx sequences are not valid text")),
    }
}

/// `key = value` words with quotes and backslashes, as libpq reads them.
fn from_words(text: &str) -> Result<Pairs> {
    let mut pairs = Pairs::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((key, after)) = rest.split_once('=') else {
            return Err(bad_with_hint(
                "one of its words has no `=`",
                "write it like postgres://user@host:5432/database, or host=… user=… dbname=…",
            ));
        };
        let (value, after) = word(after.trim_start())?;
        pairs.push((key.trim().to_owned(), value));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// One value, quoted or not, and what comes after it.
fn word(text: &str) -> Result<(String, &str)> {
    let quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut signs = text.char_indices().skip(usize::from(quoted));
    while let Some((place, sign)) = signs.next() {
        match sign {
            '\\' => value.extend(signs.next().map(|(_, escaped)| escaped)),
            '\'' if quoted => return Ok((value, &text[place + 1..])),
            _ if !quoted && sign.is_whitespace() => return Ok((value, &text[place..])),
            _ => value.push(sign),
        }
    }
    match quoted {
        true => Err(bad("a quote in it is not closed")),
        false => Ok((value, "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let pairs = pairs(text).unwrap();
        pairs.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn addresses_are_taken_apart() {
        let cases = [
            ("postgres://", ""),
            ("postgresql://db", "host=db"),
            ("POSTGRES://u@db/app", "user=u|host=db|dbname=app"),
            (
                "postgres://u:p%40ss%2F%25@db:6432/app?sslmode=require",
                "user=u|password=p@ss/%|host=db|port=6432|dbname=app|sslmode=require",
            ),
            ("postgres:///app?host=/tmp&port=7", "dbname=app|host=/tmp|port=7"),
            ("postgres://%2Fvar%2Frun/app", "host=/var/run|dbname=app"),
            ("postgres://[::1]:7,[fe80::1]/app", "host=::1,fe80::1|port=7,|dbname=app"),
            ("postgres://a:1,b/x", "host=a,b|port=1,|dbname=x"),
            (
                "host=db user = 'a b' password='it\\'s \\\\'  dbname=x\\ y",
                "host=db|user=a b|password=it's \\|dbname=x y",
            ),
            ("", ""),
        ];
        for (text, wanted) in cases {
            assert_eq!(read(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_slip_is_named_without_a_letter_of_the_password() {
        let cases = [
            "postgres://u:hunter/two@db/app",
            "postgres://u:hunter?two=x@db/app",
            "postgres://u:hunter#two@db/app",
            "postgres://u:hunter%zz@db/app",
            "postgres://u:hunter%",
            "postgres://hunter:two/app",
            "mysql://u:hunter@db/app",
            "host=db password='hunter",
            "host=db hunter",
            "postgres://db/app?hunter",
            "postgres://[hunter/app",
        ];
        for text in cases {
            let error = pairs(text).unwrap_err();
            let shown = format!("{error} {error:?} {:?}", error.hint());
            assert!(!shown.contains("hunter"), "{text}: {shown}");
        }
    }
}
