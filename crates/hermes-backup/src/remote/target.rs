//! Reads a place as the settings name it. Secrets have no business there.

use std::path::PathBuf;

use url::Url;

use super::{Kind, S3, Ssh, Target};
use crate::{Error, Result};

const KEEP_SECRETS: &str = "it contains a secret: remove it and store it in .env";

/// Reads a place: a folder, `ssh://…` or `s3://…`, each with its options behind `?`.
pub fn parse(text: &str) -> Result<Target> {
    let shown = without_secrets(text);
    let bad = |why: &str| Error::Setting { what: shown.clone(), why: why.to_owned() };
    if text.chars().any(char::is_control) {
        return Err(bad("it contains a control character"));
    }
    let (name, query) = text.split_once('?').unwrap_or((text, ""));
    let mut options = Options::read(query).map_err(|why| bad(&why))?;
    let keep = options.take("keep").map(|rules| rules.parse()).transpose()?;
    let kind = match name.split_once("://") {
        None => folder(name).map(Kind::Folder),
        Some(("file", path)) => folder(&decode(path)).map(Kind::Folder),
        Some(("ssh" | "sftp", _)) => ssh(name, &mut options).map(Kind::Ssh),
        Some(("s3", _)) => s3(name, &mut options).map(Kind::S3),
        Some((scheme, _)) => {
            Err(format!("{scheme}:// is not supported; use a folder, ssh:// or s3://"))
        }
    };
    let kind = kind.and_then(|kind| options.all_taken().map(|()| kind)).map_err(|why| bad(&why))?;
    Ok(Target { name: name.to_owned(), kind, keep })
}

fn folder(path: &str) -> Result<PathBuf, String> {
    if !path.starts_with('/') {
        return Err("write the absolute path of the folder, starting with /".to_owned());
    }
    Ok(PathBuf::from(path))
}

fn ssh(name: &str, options: &mut Options) -> Result<Ssh, String> {
    let url = address(name)?;
    if url.password().is_some() {
        return Err(format!("{KEEP_SECRETS}; ssh uses keys"));
    }
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or("it has no host")?;
    let host = decode(host.trim_start_matches('[').trim_end_matches(']'));
    let user = Some(decode(url.username())).filter(|user| !user.is_empty());
    let odd = |text: &str| {
        text.starts_with('-') || text.contains(|c: char| c.is_whitespace() || "@'\"".contains(c))
    };
    if odd(&host) || user.as_deref().is_some_and(odd) {
        return Err("the user or the host is not valid".to_owned());
    }
    let path = decode(url.path());
    let path = path.strip_prefix("/~/").unwrap_or(&path).trim_end_matches('/').to_owned();
    if path.is_empty() {
        return Err("it has no folder; write ssh://host/folder, or ssh://host/~/folder".to_owned());
    }
    if path.len() > 1000 {
        return Err("its path is too long".to_owned());
    }
    let rsync = match options.take("transfer").as_deref() {
        None | Some("sftp") => false,
        Some("rsync") => true,
        Some(other) => return Err(format!("transfer must be sftp or rsync, not {other:?}")),
    };
    let identity = options.file("identity")?;
    let known_hosts = options.file("known_hosts")?;
    Ok(Ssh { user, host, port: url.port(), path, rsync, identity, known_hosts })
}

fn s3(name: &str, options: &mut Options) -> Result<S3, String> {
    let url = address(name)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(KEEP_SECRETS.to_owned());
    }
    if url.port().is_some() {
        return Err("give the port with the endpoint: ?endpoint=https://host:port".to_owned());
    }
    let bucket = decode(url.host_str().unwrap_or_default());
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    if bucket.is_empty() || !bucket.chars().all(fits) {
        return Err("it has no bucket; write s3://bucket/prefix".to_owned());
    }
    let prefix = decode(url.path()).trim_matches('/').to_owned();
    let prefix = if prefix.is_empty() { prefix } else { format!("{prefix}/") };
    let endpoint = options.take("endpoint").map(|text| endpoint(&text)).transpose()?;
    let own_style = match options.take("style").as_deref() {
        None => None,
        Some("path") => Some(true),
        Some("host") => Some(false),
        Some(other) => return Err(format!("style must be path or host, not {other:?}")),
    };
    let region = options.take("region").unwrap_or_else(|| region(endpoint.as_ref()));
    if region.is_empty() || !region.chars().all(fits) {
        return Err("its region is not valid".to_owned());
    }
    // A dot in the name of a bucket makes a host name that no certificate is for.
    let path_style = own_style.unwrap_or(endpoint.is_some() || bucket.contains('.'));
    let endpoint = endpoint
        .map_or_else(|| format!("https://s3.{region}.amazonaws.com"), |url| url.to_string());
    let endpoint = endpoint.trim_end_matches('/').to_owned();
    Ok(S3 { bucket, prefix, endpoint, region, path_style })
}

fn endpoint(text: &str) -> Result<Url, String> {
    let text = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let url = Url::parse(&text).map_err(|_| "its endpoint is not a valid address")?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("its endpoint is not an http:// or https:// address".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(KEEP_SECRETS.to_owned());
    }
    Ok(url)
}

/// The region that an endpoint has in its name; `us-east-1` where it has none.
fn region(endpoint: Option<&Url>) -> String {
    let host = endpoint.and_then(Url::host_str).unwrap_or_default();
    let labels: Vec<&str> = host.split('.').collect();
    match labels[..] {
        _ if host.ends_with(".r2.cloudflarestorage.com") => "auto",
        ["s3", region, _, _, ..] => region,
        _ => "us-east-1",
    }
    .to_owned()
}

fn address(name: &str) -> Result<Url, String> {
    Url::parse(name).map_err(|error| format!("it is not a valid address: {error}"))
}

/// What stands behind the `?`.
struct Options(Vec<(String, String)>);

impl Options {
    fn read(query: &str) -> Result<Options, String> {
        let mut options: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let secret = ["key", "secret", "token", "pass", "credential", "signature"];
            if secret.iter().any(|word| name.to_ascii_lowercase().contains(word)) {
                return Err(KEEP_SECRETS.to_owned());
            }
            if options.iter().any(|(known, _)| known == name) {
                return Err(format!("{name} is given twice"));
            }
            options.push((name.to_owned(), decode(value)));
        }
        Ok(Options(options))
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(at).1)
    }

    /// A file that ssh is told of: its settings have no way to write some characters.
    fn file(&mut self, name: &str) -> Result<Option<PathBuf>, String> {
        let Some(path) = self.take(name) else { return Ok(None) };
        if !path.starts_with('/') {
            return Err(format!("write the absolute path of {name}, starting with /"));
        }
        if path.contains(['"', '%', '$', '\\']) || path.chars().any(char::is_control) {
            return Err(format!("ssh does not accept a path with \" % $ or \\ in it ({name})"));
        }
        Ok(Some(PathBuf::from(path)))
    }

    fn all_taken(&self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("it has no option {name:?}")),
        }
    }
}

/// Turns `%20` into what it stands for; what is no such thing stays as it is.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The text as it may be shown: nothing between `//` and `@` but a user, nothing behind `?`.
fn without_secrets(text: &str) -> String {
    let name = text.split('?').next().unwrap_or_default();
    let Some((scheme, rest)) = name.split_once("://") else { return name.to_owned() };
    let Some((login, rest)) = rest.rsplit_once('@') else { return name.to_owned() };
    match login.split_once(':') {
        None if scheme != "s3" => format!("{scheme}://{login}@{rest}"),
        Some((user, _)) if scheme != "s3" => format!("{scheme}://{user}:***@{rest}"),
        _ => format!("{scheme}://***@{rest}"),
    }
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
