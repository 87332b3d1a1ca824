//! Checksums of files and of serial numbers.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Sha-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string");
            text
        })
}
