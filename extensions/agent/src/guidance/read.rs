//! Reads text files of a limited size. Links and devices are refused.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

/// Reads a file; `None` if it does not exist.
///
/// # Errors
/// When the file is not a plain file, is too large, or is not UTF-8; the error is the reason.
pub(super) fn read_text(file: &Path, most: u64) -> Result<Option<String>, String> {
    // Opens only plain files: reading a pipe might never end.
    let found = match fs::symlink_metadata(file) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("it cannot be read: {error}")),
    };
    let kind = found.file_type();
    if !kind.is_file() {
        let what = match (kind.is_symlink(), kind.is_dir()) {
            (true, _) => "a link",
            (_, true) => "a folder",
            _ => "no plain file",
        };
        return Err(format!("it is {what}, expected a plain file"));
    }
    if found.len() > most {
        return Err(format!("it has {} bytes, expected at most {most}", found.len()));
    }
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|it| it.take(most + 1).read_to_end(&mut bytes));
    opened.map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("it has more than {most} bytes, expected at most that many"));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8 at byte {}", error.utf8_error().valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned);
    Ok(Some(text))
}
