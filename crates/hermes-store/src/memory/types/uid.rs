//! An id that is the same everywhere: a UUID of version 7, which sorts by the time it was made.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

/// A UUID of version 7.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid([u8; 16]);

impl Uid {
    /// A new id: the time, and ten bytes of chance.
    pub fn new(now: Timestamp, chance: [u8; 10]) -> Uid {
        let milliseconds = now.as_millisecond().max(0).to_be_bytes();
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&milliseconds[2..]);
        bytes[6..].copy_from_slice(&chance);
        bytes[6] = (bytes[6] & 0x0f) | 0x70;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        Uid(bytes)
    }

    /// The id with these bytes, as they are in the file.
    pub fn from_bytes(bytes: [u8; 16]) -> Uid {
        Uid(bytes)
    }

    /// When it was made, to the millisecond.
    pub fn made(&self) -> Option<Timestamp> {
        let mut milliseconds = [0; 8];
        milliseconds[2..].copy_from_slice(&self.0[..6]);
        Timestamp::from_millisecond(i64::from_be_bytes(milliseconds)).ok()
    }

    /// The bytes as they are in the file.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, byte) in self.0.iter().enumerate() {
            if matches!(place, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Uid {
    type Err = ();

    fn from_str(text: &str) -> Result<Uid, ()> {
        let digits: Vec<u8> = text
            .bytes()
            .filter(|b| *b != b'-')
            .map(|b| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok()).ok_or(()))
            .collect::<Result<_, ()>>()?;
        let mut bytes = [0; 16];
        if digits.len() != 32 {
            return Err(());
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
        Ok(Uid(bytes))
    }
}

impl serde::Serialize for Uid {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_sorts_by_time_and_reads_back() {
        let early = Uid::new(Timestamp::from_millisecond(1_700_000_000_000).unwrap(), [0xff; 10]);
        let late = Uid::new(Timestamp::from_millisecond(1_700_000_000_001).unwrap(), [0; 10]);
        assert!(early < late);
        assert_eq!(early.to_string(), "018bcfe5-6800-7fff-bfff-ffffffffffff");
        assert_eq!(early.to_string().parse(), Ok(early));
        assert_eq!(early.made().unwrap().as_millisecond(), 1_700_000_000_000);
        assert!("018bcfe5".parse::<Uid>().is_err());
    }
}
