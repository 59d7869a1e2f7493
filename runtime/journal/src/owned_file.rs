//! Small files that contain a key. They are never overwritten, and (on Unix) only their owner may use them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use zeroize::Zeroizing;

/// The maximum number of bytes that are read from a key file.
const LONGEST: u64 = 4096;

/// Why a file cannot be read.
pub(crate) enum Unread {
    Io(io::Error),
    /// Users other than the file's owner may use it. The value is the mode of the file.
    Shared(u32),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads the text of a file. The permissions are checked on the open file, since another file may take its name
/// meanwhile.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<String>, Unread> {
    let file = File::open(path)?;
    if let Some(mode) = mode_for_others(&file)? {
        return Err(Unread::Shared(mode));
    }
    let mut text = Zeroizing::new(String::with_capacity(LONGEST as usize));
    file.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// Creates the file with this text; fails if the file exists. The file gets its name when its text is complete, so that
/// a process which is killed meanwhile leaves no half of a key under that name.
pub(crate) fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:016x}.new", u64::from_le_bytes(random)));
    let new = path.with_file_name(name);
    let named = create(&new, text).and_then(|()| std::fs::hard_link(&new, path));
    let _ = std::fs::remove_file(&new);
    match named {
        // Some file systems have no second names for a file.
        Err(error) if is_without_links(&error) => create(path, text),
        named => named,
    }
}

fn is_without_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
}

fn create(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

/// Returns the permissions of the file if users other than its owner have any.
#[cfg(unix)]
fn mode_for_others(file: &File) -> io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt;

    let mode = file.metadata()?.permissions().mode() & 0o777;
    Ok((mode & 0o077 != 0).then_some(mode))
}

/// On systems other than Unix, the folder's permissions decide who may access the file.
#[cfg(not(unix))]
fn mode_for_others(_: &File) -> io::Result<Option<u32>> {
    Ok(None)
}
