//! Opens connections to the journal's file, and creates the file.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::failure::JournalFile;
use super::format::{FoundFormat, identify, migrate};
use super::statements::STATEMENTS;
use toolwright_journal::journal::{StoreError, StoreErrorKind};

/// How long to wait while another process writes to the file.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// How many pages the write-ahead log may have before they are moved into the file.
const CHECKPOINT: u32 = 4_000;

/// Whether the file is created if it does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    MadeIfMissing,
    Existing,
}

/// An open journal of the current version.
pub struct OpenedFile {
    /// The absolute path that the caller gave, with symbolic links not resolved.
    pub asked: PathBuf,
    /// The file itself. Its links were resolved once, so that a link that changes later has no effect.
    pub name: JournalFile,
    /// A connection that may write.
    pub connection: Connection,
}

/// Opens the file, and makes or migrates it to a journal of the current version.
pub fn open(path: &Path, origin: Origin) -> Result<OpenedFile, StoreError> {
    let asked = std::path::absolute(path).map_err(|error| {
        StoreError::invalid(format!("journal `{}` has no full name", path.display()))
            .with_source(error)
    })?;
    let name = JournalFile::new(asked.clone());
    match origin {
        Origin::MadeIfMissing => make(&name)?,
        Origin::Existing if !name.path().exists() => {
            return Err(name.says(
                StoreErrorKind::Invalid,
                "is not there, and a program that only reads a journal does not make one",
            ));
        }
        Origin::Existing => {}
    }
    let name = match name.path().canonicalize() {
        Ok(path) => JournalFile::new(path),
        Err(error) => {
            let words = format!("cannot be opened: {error}");
            return Err(name.says(StoreErrorKind::Unavailable, words).with_source(error));
        }
    };
    let mut connection = connect(&name)?;
    let found = find_format(&mut connection, &name)?;
    if found == FoundFormat::Empty && origin == Origin::Existing {
        return Err(name.says(StoreErrorKind::Invalid, "is empty: no journal was begun in it"));
    }
    refuse_shared(&name)?;
    let read_only = connection.is_readonly("main").map_err(|error| name.failure("be read", error));
    if read_only? {
        return Err(name.says(StoreErrorKind::Invalid,
            "is read-only: the user who runs the program must be allowed to write the file and its folder",
        ));
    }
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    write_ahead(&connection, &name)?;
    migrate(&mut connection, found, &name)?;
    Ok(OpenedFile { asked, name, connection })
}

/// Determines what the file is. This takes one transaction, because another process may be creating the journal.
fn find_format(connection: &mut Connection, name: &JournalFile) -> Result<FoundFormat, StoreError> {
    let moment = connection.transaction().map_err(|error| name.failure("be read", error))?;
    identify(&moment, name)
}

/// Opens a connection that only reads.
pub fn open_reader(name: &JournalFile) -> Result<Connection, StoreError> {
    let connection = connect(name)?;
    let asked = connection.pragma_update(None, "query_only", true);
    asked.map_err(|error| name.failure("be read", error))?;
    Ok(connection)
}

/// Creates an empty file that (on Unix) only its owner may access, unless the file exists.
fn make(name: &JournalFile) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(name.path()) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => {
            let folder = name.path().parent().filter(|folder| !folder.is_dir());
            let words = match folder {
                Some(folder) => {
                    format!("cannot be made: `{}` is no folder; make it first", folder.display())
                }
                None => format!("cannot be made: {error}"),
            };
            Err(name.says(kind_of(&error), words).with_source(error))
        }
    }
}

/// Refuses the journal if every user of the machine may read or write its file or one of the files beside it. The files
/// contain arguments and answers in plain text, and a user who can write them could change calls. A group may have
/// access if an operator has set this up.
#[cfg(unix)]
fn refuse_shared(name: &JournalFile) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt;

    for suffix in ["", "-wal", "-shm"] {
        let mut path = name.path().as_os_str().to_owned();
        path.push(suffix);
        let Ok(metadata) = std::fs::metadata(&path) else { continue };
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o006 != 0 {
            let path = path.display();
            return Err(name.says(
                StoreErrorKind::Invalid,
                format_args!(
                    "is open to every user of this machine (`{path}` has mode {mode:04o}): arguments and answers can be \
                     read or changed. Find out who could, and take it away from others with `chmod o= '{path}'`"
                ),
            ));
        }
    }
    Ok(())
}

/// On systems other than Unix, the folder's permissions decide who may access the file.
#[cfg(not(unix))]
fn refuse_shared(_: &JournalFile) -> Result<(), StoreError> {
    Ok(())
}

/// Classifies an I/O error of creating the file by what a caller can do about it.
fn kind_of(error: &std::io::Error) -> StoreErrorKind {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreErrorKind::Full,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotFound => {
            StoreErrorKind::Invalid
        }
        _ => StoreErrorKind::Unavailable,
    }
}

fn connect(name: &JournalFile) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error: rusqlite::Error| name.failure("be opened", error);
    let connection = Connection::open_with_flags(name.path(), flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    connection.pragma_update(None, "cell_size_check", true).map_err(failed)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT).map_err(failed)?;
    Ok(connection)
}

/// Writes changes to a write-ahead log, so that readers and the writer do not wait for each other.
fn write_ahead(connection: &Connection, name: &JournalFile) -> Result<(), StoreError> {
    let pause = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    loop {
        let set = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match set {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                return Err(name.says(StoreErrorKind::Invalid, format_args!(
                    "cannot keep a log beside it (it stays in mode `{mode}`): keep it on a local disk"
                )));
            }
            // SQLite does not wait here while another process also changes the journal mode.
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && waited < PATIENCE =>
            {
                sleep(pause);
                waited += pause;
            }
            Err(error) => return Err(name.failure("be opened", error)),
        }
    }
}
