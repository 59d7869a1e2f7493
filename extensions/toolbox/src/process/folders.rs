//! The current folder of each run, in which the run's next command line begins. It is stored in memory, or in files
//! that outlive the process.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use toolwright::{Danger, ResourceKind};

use crate::shell::{CommandTable, Commands, classify_from};

/// The current folder of a run that has not changed it: the workspace.
const ROOT: &str = ".";

/// The version of the files' format.
const VERSION: u32 = 1;

/// The resource for the current folder of a run, named by the run's id. Every line declares a read of it, since the
/// files that a line touches depend on the folder. A line that may change the folder declares a write.
pub(super) struct RunFolder;

impl ResourceKind for RunFolder {
    const LABEL: &'static str = "folder of the run";
    const DECIDES: bool = true;
}

/// Returns whether a line may change the current folder. A line that is not rated safe may always do so, because its
/// text does not show everything that bash does.
pub(super) fn may_move(line: &str, folder: &str, table: &CommandTable) -> bool {
    let commands = Commands::parse_by(line, table);
    let moves = |program: Option<&str>| {
        program.is_none_or(|it| matches!(it, "cd" | "pushd" | "popd" | "builtin" | "command"))
    };
    classify_from(line, folder, table).danger() > Danger::Safe
        || commands.commands().iter().any(|it| moves(it.program()))
}

/// The current folder of each run, relative to the workspace. For a run without an entry, it is the workspace itself.
#[derive(Debug)]
pub(super) enum Folders {
    /// In memory, until the process ends.
    Memory(Mutex<HashMap<String, String>>),
    /// In this folder, with a file for each run that has changed its current folder.
    Files(PathBuf),
}

/// The content of the file of a run.
#[derive(Serialize, Deserialize)]
struct StoredFolder {
    version: u32,
    run: String,
    folder: String,
}

impl Default for Folders {
    fn default() -> Self {
        Self::Memory(Mutex::default())
    }
}

impl Folders {
    /// Returns the current folder of a run.
    ///
    /// # Errors
    /// When the file of the run cannot be read, or has another format than this release's.
    pub(super) fn of(&self, run: &str) -> io::Result<String> {
        match self {
            Self::Memory(folders) => {
                let folders = folders.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(folders.get(run).cloned().unwrap_or_else(|| ROOT.to_owned()))
            }
            Self::Files(place) => match fs::read(file_of(place, run)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(ROOT.to_owned()),
                Err(error) => Err(error),
                Ok(text) => {
                    let stored: StoredFolder = serde_json::from_slice(&text)?;
                    if stored.version != VERSION || stored.run != run {
                        let message = format!(
                            "found version {} of run `{}`, expected version {VERSION} of run `{run}`",
                            stored.version, stored.run
                        );
                        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                    }
                    Ok(stored.folder)
                }
            },
        }
    }

    /// Stores the current folder of a run.
    ///
    /// # Errors
    /// When the file of the run cannot be written or removed. The run then stays in its earlier folder.
    pub(super) fn move_to(&self, run: &str, folder: String) -> io::Result<()> {
        match self {
            Self::Memory(folders) => {
                let mut folders = folders.lock().unwrap_or_else(PoisonError::into_inner);
                match folder == ROOT {
                    true => folders.remove(run),
                    false => folders.insert(run.to_owned(), folder),
                };
                Ok(())
            }
            Self::Files(place) if folder == ROOT => remove(place, &file_of(place, run)),
            Self::Files(place) => {
                let stored = StoredFolder { version: VERSION, run: run.to_owned(), folder };
                replace(place, &file_of(place, run), &serde_json::to_vec(&stored)?)
            }
        }
    }
}

/// Returns the file of a run. The file's name is a hash, because the id of a run may be any text.
fn file_of(place: &Path, run: &str) -> PathBuf {
    place.join(format!("{}.json", hex::encode(Sha256::digest(run))))
}

/// Removes a file durably, so that it does not reappear after a power failure.
fn remove(folder: &Path, file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(()) => fs::File::open(folder)?.sync_all(),
    }
}

/// Replaces a file atomically and durably: even after a power failure, a reader finds either the old text or the new
/// one.
fn replace(folder: &Path, file: &Path, text: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let new = file.with_extension(format!("{}.tmp", std::process::id()));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut written = options.open(&new)?;
    written.write_all(text)?;
    written.sync_all()?;
    fs::rename(&new, file)?;
    fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_where_it_was_after_a_restart_and_what_cannot_be_read_is_an_error() {
        let place = tempfile::tempdir().expect("a folder");
        let files = || Folders::Files(place.path().join("folders"));
        assert_eq!(files().of("a/../b").expect("read"), ".");
        files().move_to("a/../b", "sub".to_owned()).expect("written");
        assert_eq!(files().of("a/../b").expect("read"), "sub");
        assert_eq!(files().of("b").expect("read"), ".");
        files().move_to("a/../b", ".".to_owned()).expect("written");
        assert_eq!(files().of("a/../b").expect("read"), ".");
        let left = fs::read_dir(place.path().join("folders")).expect("it is there").count();
        assert_eq!(left, 0, "a run that is in the workspace itself needs no file");
        files().move_to("c", ".".to_owned()).expect("there was none");
        let file = file_of(&place.path().join("folders"), "a/../b");
        fs::write(&file, r#"{"version":2,"run":"a/../b","folder":"sub"}"#).expect("written");
        let error = files().of("a/../b").expect_err("another version").to_string();
        assert!(error.contains("found version 2"), "{error}");
        fs::write(&file, "").expect("written");
        assert!(files().of("a/../b").is_err(), "an empty file says nothing");
    }

    #[test]
    fn a_line_moves_its_run_where_it_may() {
        let moves = |line| may_move(line, ".", CommandTable::standard());
        for line in [
            "cd sub",
            "cat a && cd ..",
            "(cd sub && ls)",
            "pushd sub",
            "make",
            "$X",
            "mkdir a; cd a",
        ] {
            assert!(moves(line), "{line}");
        }
        assert!(!may_move("cat ../a", "sub", CommandTable::standard()));
        for line in ["ls", "pwd", "cat a | head -2", "echo cd sub", "grep -n cd a"] {
            assert!(!moves(line), "{line}");
        }
    }
}
