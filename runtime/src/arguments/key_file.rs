//! Files that hold a key: nobody but their owner may use them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use zeroize::Zeroizing;

use super::sealing::SealingError;

/// No key is longer; what follows is not read.
const LONGEST: u64 = 256;

/// The text of a key's file.
pub(super) fn read(path: &Path) -> Result<Zeroizing<String>, SealingError> {
    let failed = |source| failed(path, "read", source);
    let file = File::open(path).map_err(failed)?;
    owner_alone(&file, path)?;
    let mut text = Zeroizing::new(String::with_capacity(LONGEST as usize));
    file.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// Writes a new file, which must not be there yet.
pub(super) fn write(path: &Path, text: &[u8]) -> Result<(), SealingError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(text)?;
        file.sync_all()
    });
    written.map_err(|source| failed(path, "written", source))
}

/// Looks at the file that was opened, not at what has its name by now.
#[cfg(unix)]
fn owner_alone(file: &File, path: &Path) -> Result<(), SealingError> {
    use std::os::unix::fs::PermissionsExt;

    let metadata = file.metadata().map_err(|source| failed(path, "read", source))?;
    let mode = metadata.permissions().mode() & 0o777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(SealingError::Exposed { path: path.display().to_string(), mode }),
    }
}

/// Elsewhere the folder it lies in decides who may read it.
#[cfg(not(unix))]
fn owner_alone(_: &File, _: &Path) -> Result<(), SealingError> {
    Ok(())
}

fn failed(path: &Path, what: &'static str, source: io::Error) -> SealingError {
    SealingError::File { path: path.display().to_string(), what, source }
}
