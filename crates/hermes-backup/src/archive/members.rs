//! One tar member after the other, with nothing in their headers taken on trust.

use std::io::{self, Read};

use tar::{EntryType, Header};

const BLOCK: usize = 512;
/// No path of ours comes near it; a longer name is a trap for memory.
const LONGEST_NAME: u64 = 4096;
/// Attributes that other programs write before a member.
const LONGEST_ATTRIBUTES: u64 = 1024 * 1024;

/// A stream of members; reading from it gives the content of the member that `next` gave last.
pub(super) struct Members<R> {
    input: R,
    content_left: u64,
    padding: u64,
}

/// A member as its headers say it.
pub(super) struct Announced {
    pub(super) path: Vec<u8>,
    pub(super) kind: Sort,
    pub(super) size: u64,
    pub(super) mode: u32,
    pub(super) modified: i64,
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    File,
    Folder,
    /// Symbolic or hard.
    Link(&'static str),
    Other(&'static str),
}

/// Why a stream of members cannot be read on.
#[derive(Debug)]
pub(super) enum Broken {
    /// What is below it failed.
    Input(io::Error),
    /// It is no tar, or one that nobody makes by accident.
    Form(String),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Broken {
        Broken::Input(error)
    }
}

/// What headers before a member say of it.
#[derive(Default)]
struct Attributes {
    path: Option<Vec<u8>>,
    size: Option<u64>,
}

impl<R: Read> Members<R> {
    pub(super) fn new(input: R) -> Members<R> {
        Members { input, content_left: 0, padding: 0 }
    }

    /// The next member; none at the mark of the end, after which `input` stands behind two empty blocks.
    pub(super) fn next(&mut self) -> Result<Option<Announced>, Broken> {
        let mut before = Attributes::default();
        loop {
            self.skip_rest()?;
            let Some(header) = self.header()? else {
                return Ok(None);
            };
            let size = header.entry_size().map_err(not_a_number)?;
            match header.entry_type() {
                EntryType::GNULongName => {
                    let name = self.extension(size, LONGEST_NAME, "name")?;
                    set_once(&mut before.path, without_end(name))?;
                }
                // What a link leads to does not matter: no link is ever made.
                EntryType::GNULongLink => {
                    self.extension(size, LONGEST_NAME, "name")?;
                }
                EntryType::XHeader => {
                    let text = self.extension(size, LONGEST_ATTRIBUTES, "attribute")?;
                    take_attributes(&text, &mut before)?;
                }
                EntryType::XGlobalHeader => {
                    let text = self.extension(size, LONGEST_ATTRIBUTES, "attribute")?;
                    let mut all = Attributes::default();
                    take_attributes(&text, &mut all)?;
                    if all.path.is_some() || all.size.is_some() {
                        return Err(form("one path or size is given for all members"));
                    }
                }
                _ => return self.announce(&header, size, before).map(Some),
            }
        }
    }

    /// After the end: whatever follows must be empty; more than `most` bytes of that are a trap.
    pub(super) fn must_be_over(&mut self, most: u64) -> Result<(), Broken> {
        let mut block = [0; 8192];
        let mut seen = 0u64;
        loop {
            let count = read_some(&mut self.input, &mut block)?;
            if count == 0 {
                return Ok(());
            }
            if block[..count].iter().any(|byte| *byte != 0) {
                return Err(form("there is data after its end"));
            }
            seen += count as u64;
            if seen > most {
                return Err(form(
                    "there are more empty blocks after its end than any program writes",
                ));
            }
        }
    }

    fn announce(
        &mut self,
        header: &Header,
        size: u64,
        before: Attributes,
    ) -> Result<Announced, Broken> {
        let path = before.path.unwrap_or_else(|| header.path_bytes().into_owned());
        let kind = sort_of(header, &path);
        // A link has no content, but some programs repeat the size of what it leads to.
        let is_link = matches!(kind, Sort::Link(_));
        let size = if is_link { 0 } else { before.size.unwrap_or(size) };
        self.expect_content(size)?;
        Ok(Announced {
            path,
            kind,
            size,
            mode: header.mode().map_err(not_a_number)?,
            modified: header.mtime().ok().and_then(|at| i64::try_from(at).ok()).unwrap_or(0),
        })
    }

    fn expect_content(&mut self, size: u64) -> Result<(), Broken> {
        let block = BLOCK as u64;
        size.checked_add(block).ok_or_else(|| form("a size is too large"))?;
        self.content_left = size;
        self.padding = (block - size % block) % block;
        Ok(())
    }

    /// The next header that is not empty; none after two empty blocks.
    fn header(&mut self) -> Result<Option<Header>, Broken> {
        let mut header = Header::new_old();
        self.block(header.as_mut_bytes())?;
        if is_empty(header.as_bytes()) {
            self.block(header.as_mut_bytes())?;
            return if is_empty(header.as_bytes()) {
                Ok(None)
            } else {
                Err(form("there is data after its end"))
            };
        }
        let bytes = header.as_bytes();
        let others = bytes[..148].iter().chain(&bytes[156..]);
        let sum = others.fold(8 * u32::from(b' '), |sum, byte| sum + u32::from(*byte));
        match header.cksum() {
            Ok(found) if found == sum => Ok(Some(header)),
            _ => Err(form("the checksum of a header is wrong")),
        }
    }

    fn block(&mut self, block: &mut [u8; BLOCK]) -> Result<(), Broken> {
        Ok(self.input.read_exact(block)?)
    }

    fn extension(&mut self, size: u64, most: u64, what: &str) -> Result<Vec<u8>, Broken> {
        if size > most {
            return Err(form(&format!("a member has a {what} of {size} bytes")));
        }
        self.expect_content(size)?;
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn skip_rest(&mut self) -> Result<(), Broken> {
        io::copy(self, &mut io::sink())?;
        let mut padding = [0; BLOCK];
        // At most 511, by what made it.
        let padding = &mut padding[..self.padding as usize];
        self.input.read_exact(padding)?;
        self.padding = 0;
        Ok(())
    }
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.content_left == 0 || buffer.is_empty() {
            return Ok(0);
        }
        let most = usize::try_from(self.content_left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.input.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.content_left -= count as u64;
        Ok(count)
    }
}

/// A read that passes over interruptions.
pub(super) fn read_some(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn sort_of(header: &Header, path: &[u8]) -> Sort {
    match header.entry_type() {
        // Before there was a sign for folders, they were told by the stroke at the end.
        EntryType::Regular if path.ends_with(b"/") => Sort::Folder,
        EntryType::Regular => Sort::File,
        EntryType::Directory => Sort::Folder,
        EntryType::Symlink => Sort::Link("a symbolic link"),
        EntryType::Link => Sort::Link("a hard link"),
        EntryType::Char | EntryType::Block => Sort::Other("a device"),
        EntryType::Fifo => Sort::Other("a fifo"),
        EntryType::GNUSparse => Sort::Other("a sparse file"),
        _ => Sort::Other("of an unsupported type"),
    }
}

/// Records of the form `LENGTH KEY=VALUE\n`.
fn take_attributes(mut text: &[u8], into: &mut Attributes) -> Result<(), Broken> {
    let wrong = || form("the attributes of a member cannot be read");
    while !text.is_empty() {
        let space = text.iter().position(|byte| *byte == b' ').ok_or_else(wrong)?;
        let length = std::str::from_utf8(&text[..space]).ok().and_then(|n| n.parse().ok());
        let length: usize = length.ok_or_else(wrong)?;
        if length <= space + 1 || length > text.len() || text[length - 1] != b'\n' {
            return Err(wrong());
        }
        let record = &text[space + 1..length - 1];
        let equals = record.iter().position(|byte| *byte == b'=').ok_or_else(wrong)?;
        let value = &record[equals + 1..];
        match &record[..equals] {
            b"path" => set_once(&mut into.path, value.to_vec())?,
            b"size" => {
                let size = std::str::from_utf8(value).ok().and_then(|n| n.parse().ok());
                set_once(&mut into.size, size.ok_or_else(wrong)?)?;
            }
            key if key.starts_with(b"GNU.sparse") => return Err(form("a member is a sparse file")),
            _ => {}
        }
        text = &text[length..];
    }
    Ok(())
}

fn set_once<T>(place: &mut Option<T>, value: T) -> Result<(), Broken> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(form("a member has two paths or two sizes")),
    }
}

/// A long name ends with a zero byte, which is no part of it.
fn without_end(mut name: Vec<u8>) -> Vec<u8> {
    if name.last() == Some(&0) {
        name.pop();
    }
    name
}

fn is_empty(block: &[u8; BLOCK]) -> bool {
    block.iter().all(|byte| *byte == 0)
}

fn form(why: &str) -> Broken {
    Broken::Form(why.to_owned())
}

fn not_a_number(_: io::Error) -> Broken {
    form("a number in a header cannot be read")
}
