//! Sends a large file in parts, going on with an upload that was cut.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use md5::{Digest, Md5};
use rusty_s3::S3Action;

use super::s3_http::{Call, Client, header};
use super::s3_says::Failed;
use super::xml;
use crate::hash::hex;
use crate::{Error, Progress, Result, Tell};

/// The size of a part, unless a file is so large that there would be too many.
pub(super) const PART: u64 = 16 << 20;
const MOST_PARTS: u64 = 10_000;

/// Parts that are there, by their numbers: the size and the tag of each.
type Parts = BTreeMap<u16, (u64, String)>;

/// One file on its way.
pub(super) struct Upload<'a> {
    /// Where to.
    pub(super) client: &'a Client,
    /// The key it will have.
    pub(super) key: &'a str,
    /// What it is.
    pub(super) from: &'a Path,
    /// Its size.
    pub(super) size: u64,
}

impl Upload<'_> {
    /// Sends what is missing and completes it: only then there is an object of that key.
    pub(super) fn run(&self, tell: Tell<'_>) -> Result<()> {
        let doing = format!("sending {}", self.key.rsplit('/').next().unwrap_or(self.key));
        let mut file = File::open(self.from).map_err(|error| self.unreadable(error))?;
        let (id, there) = self.begin()?;
        let mut tags = Vec::new();
        let mut done = 0;
        for number in 1..=self.count() {
            tell(Progress { doing: &doing, done, of: self.size });
            let bytes = self.part(&mut file)?;
            let md5 = Md5::digest(&bytes);
            let known = there
                .get(&number)
                .filter(|(size, tag)| *size == bytes.len() as u64 && may_be(tag, &hex(&md5)));
            let tag = match known {
                Some((_, tag)) => tag.clone(),
                None => self.send(number, &id, &bytes, &md5)?,
            };
            tags.push(tag);
            done += bytes.len() as u64;
        }
        tell(Progress { doing: &doing, done, of: self.size });
        self.complete(&id, &tags)
    }

    /// The upload to go on with: the unfinished one that has most of it, else a new one.
    fn begin(&self) -> Result<(String, Parts)> {
        let mut best: Option<(String, Parts)> = None;
        for id in self.unfinished()? {
            let parts = self.parts(&id)?;
            let (worse, better) = match best.take() {
                Some(other) if other.1.len() >= parts.len() => (Some(id), other),
                other => (other.map(|(id, _)| id), (id, parts)),
            };
            worse.map(|id| self.abort(&id)).transpose()?;
            best = Some(better);
        }
        match best {
            Some(best) => Ok(best),
            None => self.create().map(|id| (id, Parts::new())),
        }
    }

    fn create(&self) -> Result<String> {
        let action = self.client.bucket.create_multipart_upload(self.client.keys(), self.key);
        let answer = self.told(self.client.text(&Call::of(&action).with(b"")))?;
        xml::text_of(&answer, "UploadId").ok_or_else(|| self.odd_answer())
    }

    /// The ids of uploads of this key that were begun and not completed.
    fn unfinished(&self) -> Result<Vec<String>> {
        let mut action = self.client.bucket.list_objects_v2(self.client.keys());
        let query = action.query_mut();
        query.remove("list-type");
        query.remove("encoding-type");
        query.insert("uploads", "");
        query.insert("prefix", self.key);
        let answer = self.told(self.client.text(&Call::of(&action)))?;
        let of_this_key = |upload: &&str| xml::text_of(upload, "Key").as_deref() == Some(self.key);
        let uploads = xml::each(&answer, "Upload");
        Ok(uploads
            .into_iter()
            .filter(of_this_key)
            .filter_map(|upload| xml::text_of(upload, "UploadId"))
            .collect())
    }

    fn parts(&self, id: &str) -> Result<Parts> {
        let mut found = Parts::new();
        let mut after = None;
        loop {
            let bucket = &self.client.bucket;
            let mut action = bucket.list_parts(self.client.keys(), self.key, id);
            if let Some(after) = after {
                action.set_part_number_marker(after);
            }
            let answer = self.told(self.client.text(&Call::of(&action)))?;
            let last = found.last_key_value().map(|(number, _)| *number);
            found.extend(xml::each(&answer, "Part").into_iter().filter_map(read_part));
            let newest = found.last_key_value().map(|(number, _)| *number);
            if xml::text_of(&answer, "IsTruncated").as_deref() != Some("true") || newest == last {
                return Ok(found);
            }
            after = newest;
        }
    }

    fn send(&self, number: u16, id: &str, bytes: &[u8], md5: &[u8]) -> Result<String> {
        let bucket = &self.client.bucket;
        let mut action = bucket.upload_part(self.client.keys(), self.key, number, id);
        let md5 = base64(md5);
        action.headers_mut().insert("content-md5", md5.clone());
        let call = Call::of(&action).with(bytes).header("content-md5", md5);
        let headers = self.told(self.client.headers(&call))?;
        header(&headers, "etag").map(str::to_owned).ok_or_else(|| self.odd_answer())
    }

    fn complete(&self, id: &str, tags: &[String]) -> Result<()> {
        let tags = || tags.iter().map(String::as_str);
        let bucket = &self.client.bucket;
        let keys = self.client.keys();
        let body = bucket.complete_multipart_upload(keys, self.key, id, tags()).body();
        let action = bucket.complete_multipart_upload(keys, self.key, id, tags());
        match self.client.text(&Call::of(&action).with(body.as_bytes())) {
            // It was completed by a try whose answer was lost; reading it back tells.
            Err(failed) if failed.code == "NoSuchUpload" => Ok(()),
            other => self.told(other).map(drop),
        }
    }

    fn abort(&self, id: &str) -> Result<()> {
        let bucket = &self.client.bucket;
        let action = bucket.abort_multipart_upload(self.client.keys(), self.key, id);
        match self.client.headers(&Call::of(&action)) {
            Err(failed) if failed.status != 404 => self.told(Err(failed)),
            _ => Ok(()),
        }
    }

    fn part(&self, file: &mut File) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = file.take(part_size(self.size)).read_to_end(&mut bytes);
        read.map_err(|error| self.unreadable(error))?;
        Ok(bytes)
    }

    fn count(&self) -> u16 {
        u16::try_from(self.size.div_ceil(part_size(self.size))).unwrap_or(u16::MAX)
    }

    fn told<T>(&self, answer: Result<T, Failed>) -> Result<T> {
        answer.map_err(|failed| failed.error("send to", &self.client.place))
    }

    fn odd_answer(&self) -> Error {
        let (place, why) = (self.client.place.clone(), "its response is not valid".to_owned());
        Error::Remote { doing: "send to", place, why, again: true, hint: None }
    }

    fn unreadable(&self, error: io::Error) -> Error {
        Error::file("read", self.from, error)
    }
}

fn read_part(part: &str) -> Option<(u16, (u64, String))> {
    let text = |name| xml::text_of(part, name);
    let number = text("PartNumber")?.parse().ok()?;
    Some((number, (text("Size")?.parse().ok()?, text("ETag")?)))
}

/// The same for the same file each time, so that parts of a cut upload fit.
fn part_size(size: u64) -> u64 {
    size.div_ceil(MOST_PARTS).next_multiple_of(1 << 20).max(PART)
}

/// Whether a part with this tag may have this MD5. Services that encrypt or tag in a way of their own cannot be
/// asked; what they keep is read back in the end like everything else.
fn may_be(tag: &str, md5: &str) -> bool {
    let tag = tag.trim_matches('"');
    let is_md5 = tag.len() == 32 && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    !is_md5 || tag.eq_ignore_ascii_case(md5)
}

/// Bytes as `content-md5` wants them.
pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at > three.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_are_written_as_the_header_wants_them() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn a_part_of_another_content_is_not_gone_on_with() {
        let md5 = hex(&Md5::digest(b"x"));
        assert!(may_be(&format!("\"{md5}\""), &md5));
        assert!(!may_be(&format!("\"{}\"", hex(&Md5::digest(b"y"))), &md5));
        assert!(may_be("\"a-tag-of-its-own\"", &md5));
    }

    proptest! {
        #[test]
        fn there_are_never_too_many_parts(size in 1u64..5 << 40) {
            prop_assert!(size.div_ceil(part_size(size)) <= MOST_PARTS);
            prop_assert!(part_size(size) >= PART);
        }
    }
}
