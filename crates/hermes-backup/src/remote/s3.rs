//! An S3-shaped bucket as a place.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use md5::{Digest, Md5};
use rusty_s3::S3Action;
use rusty_s3::actions::ListObjectsV2;

use super::folder::open_private;
use super::s3_http::{Call, Client, header};
use super::s3_parts::{PART, Upload, base64};
use super::s3_says::Failed;
use super::{Remote, S3, S3Keys, Stored, check_content, check_name, not_what_was_sent, xml};
use crate::hash::Hashing;
use crate::{Error, Progress, Result, Tell};

/// How much is fetched by one request.
const CHUNK: u64 = 16 << 20;

/// A bucket, or what lies below a prefix in it.
pub(super) struct Store {
    client: Client,
    prefix: String,
    in_clear: bool,
}

/// A piece of an object.
struct Piece {
    bytes: Vec<u8>,
    of: u64,
    tag: Option<String>,
}

impl Store {
    pub(super) fn new(s3: &S3, keys: &S3Keys) -> Result<Store> {
        let client = Client::new(s3, keys)?;
        let host = client.bucket.base_url().host_str().unwrap_or_default().to_owned();
        let in_clear = s3.endpoint.starts_with("http://")
            && !["127.0.0.1", "[::1]", "localhost"].contains(&host.as_str());
        Ok(Store { client, prefix: s3.prefix.clone(), in_clear })
    }

    fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn error(&self, doing: &'static str, failed: Failed) -> Error {
        failed.error(doing, &self.client.place)
    }

    fn odd_answer(&self, doing: &'static str) -> Error {
        let (place, why) = (self.client.place.clone(), "its response is not valid".to_owned());
        Error::Remote { doing, place, why, again: true, hint: None }
    }

    /// Sends a small file by one request.
    fn put_whole(&self, from: &Path, key: &str, tell: Tell<'_>) -> Result<()> {
        let bytes = fs::read(from).map_err(|source| Error::file("read", from, source))?;
        let of = bytes.len() as u64;
        let doing = format!("sending {}", key.rsplit('/').next().unwrap_or(key));
        tell(Progress { doing: &doing, done: 0, of });
        let md5 = base64(&Md5::digest(&bytes));
        let mut action = self.client.bucket.put_object(self.client.keys(), key);
        action.headers_mut().insert("content-md5", md5.clone());
        let call = Call::of(&action).with(&bytes).header("content-md5", md5);
        self.client.headers(&call).map_err(|failed| self.error("send to", failed))?;
        tell(Progress { doing: &doing, done: of, of });
        Ok(())
    }

    /// Fetches an object from `at` on, piece by piece, each tried again by itself.
    fn fetch(
        &self,
        key: &str,
        mut at: u64,
        take: &mut dyn FnMut(&[u8], u64) -> Result<()>,
    ) -> Result<(), Fetching> {
        let mut tag: Option<String> = None;
        loop {
            let piece = self.piece(key, at, tag.as_deref()).map_err(Fetching::Failed)?;
            at += piece.bytes.len() as u64;
            take(&piece.bytes, piece.of).map_err(Fetching::Here)?;
            if at >= piece.of {
                return Ok(());
            }
            if piece.bytes.is_empty() {
                return Err(Fetching::Here(self.odd_answer("read from")));
            }
            tag = piece.tag;
        }
    }

    fn piece(&self, key: &str, at: u64, tag: Option<&str>) -> Result<Piece, Failed> {
        let action = self.client.bucket.get_object(self.client.keys(), key);
        let range = format!("bytes={at}-{}", at + CHUNK - 1);
        let mut call = Call::of(&action).header("range", range);
        if let Some(tag) = tag {
            call = call.header("if-match", tag.to_owned());
        }
        self.client.send(&call, |mut response| {
            let of = size_of(response.headers());
            let tag = header(response.headers(), "etag").map(str::to_owned);
            let reader = response.body_mut().with_config().limit(CHUNK + 1);
            let bytes = reader.read_to_vec().map_err(|error| Failed::no_answer(&error))?;
            let of = of.unwrap_or(bytes.len() as u64);
            Ok(Piece { bytes, of, tag })
        })
    }

    /// The SHA-256 of what lies there.
    fn read_back(&self, key: &str, tell: Tell<'_>) -> Result<String> {
        let doing = format!("reading back {}", key.rsplit('/').next().unwrap_or(key));
        let mut hashing = Hashing::default();
        let mut done = 0;
        let fetched = self.fetch(key, 0, &mut |bytes, of| {
            hashing.update(bytes);
            done += bytes.len() as u64;
            tell(Progress { doing: &doing, done, of });
            Ok(())
        });
        fetched.map_err(|error| self.fetching("read back from", error))?;
        Ok(hashing.hex())
    }

    fn fetching(&self, doing: &'static str, error: Fetching) -> Error {
        match error {
            Fetching::Failed(failed) => self.error(doing, failed),
            Fetching::Here(error) => error,
        }
    }

    /// Asks something about the bucket itself that has only a name.
    fn ask(&self, what: &'static str) -> Result<String, Failed> {
        let mut action = self.client.bucket.list_objects_v2(self.client.keys());
        let query = action.query_mut();
        query.remove("list-type");
        query.remove("encoding-type");
        query.insert(what, "");
        self.client.text(&Call::of(&action))
    }
}

/// What went wrong while an object was fetched: there, or here.
enum Fetching {
    Failed(Failed),
    Here(Error),
}

impl Remote for Store {
    fn place(&self) -> String {
        self.client.place.clone()
    }

    fn list(&self) -> Result<Vec<Stored>> {
        let mut found = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let mut action = self.client.bucket.list_objects_v2(self.client.keys());
            action.with_prefix(self.prefix.as_str());
            action.with_delimiter("/");
            if let Some(token) = next.take() {
                action.with_continuation_token(token);
            }
            let answer = self.client.text(&Call::of(&action));
            let answer = answer.map_err(|failed| self.error("list", failed))?;
            let page =
                ListObjectsV2::parse_response(&answer).map_err(|_| self.odd_answer("list"))?;
            found.extend(page.contents.into_iter().filter_map(|object| {
                let name = object.key.strip_prefix(&self.prefix)?.to_owned();
                (!name.is_empty()).then(|| Stored { name, size: object.size.unwrap_or_default() })
            }));
            next = page.next_continuation_token;
            if next.is_none() {
                break;
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    fn put(&self, from: &Path, name: &str, sha256: &str, tell: Tell<'_>) -> Result<()> {
        check_name("send to", &self.place(), name)?;
        check_content(from, sha256)?;
        let size = fs::metadata(from).map_err(|source| Error::file("read", from, source))?.len();
        let key = self.key(name);
        // An object appears whole or not at all, so that it needs no temporary name.
        if size <= PART {
            self.put_whole(from, &key, tell)?;
        } else {
            Upload { client: &self.client, key: &key, from, size }.run(tell)?;
        }
        if self.read_back(&key, tell)? == sha256 {
            return Ok(());
        }
        self.delete(name)?;
        Err(not_what_was_sent(from, sha256, &self.place()))
    }

    fn get(&self, name: &str, to: &Path, tell: Tell<'_>) -> Result<()> {
        check_name("fetch from", &self.place(), name)?;
        let failed = |source| Error::file("write to", to, source);
        let mut file = open_private(to).map_err(failed)?;
        let mut done = file.seek(SeekFrom::End(0)).map_err(failed)?;
        let doing = format!("fetching {name}");
        let fetched = self.fetch(&self.key(name), done, &mut |bytes, of| {
            file.write_all(bytes).map_err(failed)?;
            done += bytes.len() as u64;
            tell(Progress { doing: &doing, done, of });
            Ok(())
        });
        match fetched {
            // There is nothing behind what is here already; the caller sees whether it is right.
            Err(Fetching::Failed(answer)) if answer.status == 416 => {}
            other => other.map_err(|error| self.fetching("fetch from", error))?,
        }
        file.sync_all().map_err(failed)
    }

    fn delete(&self, name: &str) -> Result<()> {
        check_name("delete from", &self.place(), name)?;
        let key = self.key(name);
        let action = self.client.bucket.delete_object(self.client.keys(), &key);
        match self.client.headers(&Call::of(&action)) {
            Err(failed) if failed.code != "NoSuchKey" => Err(self.error("delete from", failed)),
            _ => Ok(()),
        }
    }

    fn warnings(&self) -> Result<Vec<String>> {
        let mut warnings = Vec::new();
        match self.ask("versioning") {
            Ok(answer) if xml::text_of(&answer, "Status").as_deref() == Some("Enabled") => {}
            Ok(_) => warnings.push(format!(
                "{}: versioning is off: anyone who has these keys can permanently delete or \
                 replace every backup there",
                self.place()
            )),
            Err(failed) if failed.status == 0 || failed.code == "NoSuchBucket" => {
                return Err(self.error("check", failed));
            }
            Err(failed) => warnings.push(format!(
                "{}: could not determine whether versioning is on: {}",
                self.place(),
                failed.why
            )),
        }
        if self.in_clear {
            warnings.push(format!("{}: the connection is not encrypted", self.place()));
        }
        Ok(warnings)
    }
}

/// The size of a whole object, of which an answer holds a part: `bytes 0-99/1234`.
fn size_of(headers: &ureq::http::HeaderMap) -> Option<u64> {
    header(headers, "content-range")?.rsplit('/').next()?.parse().ok()
}
