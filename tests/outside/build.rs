//! Tells the tests where the built program is, which cargo does for tests of the program's own package alone.
#![expect(clippy::disallowed_methods, reason = "what cargo says is in the environment")]

use std::path::Path;

fn main() {
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    // <where cargo builds>/<profile>/build/<package>/out
    if let Some(folder) = Path::new(&out).ancestors().nth(3) {
        println!("cargo::rustc-env=CARGO_BIN_EXE_hermes={}", folder.join("hermes").display());
    }
    println!("cargo::rerun-if-changed=build.rs");
}
