//! The hash by which tools recognize the content of a file; pure.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use toolwright::ToolError;

use super::name::Name;

/// How many bytes of the digest are shown: enough that two versions of a file do not share a hash by chance.
const SHOWN: usize = 8;

/// Returns the hash that a model sees: the first bytes of the SHA-256 digest, as 16 hexadecimal digits.
pub(crate) fn content_hash(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    digest.iter().take(SHOWN).fold(String::with_capacity(2 * SHOWN), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Refuses a content that does not have the expected hash; `none` means that no file is expected.
pub(crate) fn is_expected(
    name: &Name,
    found: Option<&[u8]>,
    expected: Option<&str>,
) -> Result<(), ToolError> {
    let Some(expected) = expected else { return Ok(()) };
    let is_hash = expected.len() == 2 * SHOWN && expected.bytes().all(|it| it.is_ascii_hexdigit());
    if expected != "none" && !is_hash {
        let message = format!(
            "the expected hash of `{name}` is `{expected}`, expected {} hexadecimal digits, or `none` for no file",
            2 * SHOWN
        );
        return Err(ToolError::invalid(message).hint("copy it from the answer of `read_file`"));
    }
    let now = found.map(content_hash);
    let message = match now.as_deref() {
        None if expected == "none" => return Ok(()),
        Some(now) if now.eq_ignore_ascii_case(expected) => return Ok(()),
        None => format!("`{name}` does not exist, expected hash {expected}"),
        Some(now) if expected == "none" => {
            format!("`{name}` exists with hash {now}, expected no file")
        }
        Some(now) => format!("`{name}` has hash {now}, expected {expected}: it was changed since"),
    };
    Err(ToolError::new("file_changed", message).hint("read it again"))
}
