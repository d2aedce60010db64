//! The style sheet, the script and the icon: part of the program, and kept by browsers as long as they stay the same.

use std::io::Write as _;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

/// A file that every page needs.
pub(crate) struct Asset {
    /// What it is called.
    pub(crate) name: &'static str,
    /// Its media type.
    pub(crate) kind: &'static str,
    /// Where it is: its address says what is in it.
    pub(crate) address: String,
    /// What is in it.
    pub(crate) bytes: &'static [u8],
    /// The same, made smaller.
    pub(crate) small: Vec<u8>,
}

static ALL: LazyLock<[Asset; 3]> = LazyLock::new(|| {
    [
        asset("style.css", "text/css; charset=utf-8", include_bytes!("../../assets/style.css")),
        asset("app.js", "text/javascript; charset=utf-8", include_bytes!("../../assets/app.js")),
        asset("icon.svg", "image/svg+xml", include_bytes!("../../assets/icon.svg")),
    ]
});

/// The file at an address.
pub(crate) fn find(address: &str) -> Option<&'static Asset> {
    ALL.iter().find(|asset| asset.address == address)
}

/// The address of a file.
pub(crate) fn address(name: &str) -> &'static str {
    ALL.iter().find(|asset| asset.name == name).map_or("", |asset| asset.address.as_str())
}

/// Bytes made smaller.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(5));
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    // Writing to memory does not fail.
    written.unwrap_or_default()
}

fn asset(name: &'static str, kind: &'static str, bytes: &'static [u8]) -> Asset {
    let hash = Sha256::digest(bytes);
    let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Asset { name, kind, address: format!("/assets/{hash}/{name}"), bytes, small: gzip(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_styles_are_small() {
        let sum: usize = ALL.iter().map(|asset| asset.small.len()).sum();
        assert!(sum <= 60_000, "{sum} bytes");
        let script = include_str!("../../assets/app.js");
        assert!(script.lines().count() <= 300, "{} lines", script.lines().count());
    }
}
