//! Marks where a text of a file begins and ends, so that the text cannot pretend to be something else.

use sha2::{Digest as _, Sha256};

/// Puts a text between two lines that say what it is. Each line contains a digest of the text. It is infeasible to
/// write a text that contains its own digest, so the text cannot contain a valid last line.
pub(super) fn marked(what: &str, text: &str) -> String {
    let digest = hex::encode(Sha256::digest(text.as_bytes()));
    let digest = &digest[..16];
    format!("[begin of {what}, {digest}]\n{}\n[end of {what}, {digest}]", text.trim_end())
}
