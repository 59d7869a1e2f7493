//! The context store of a world: the texts that calls have piped into it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rusqlite::Connection;
use toolwright_toolbox::ContextStore;

/// How deep the paths of the entries are at most.
const DEPTH: usize = 9;

/// One version of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The path of the entry.
    pub path: String,
    /// The number of the version.
    pub version: u32,
    /// Which call wrote it.
    pub note: String,
    /// The text.
    pub text: String,
}

/// Returns the file of the store of a folder.
#[must_use]
pub fn file(folder: &Path) -> PathBuf {
    folder.join("texts.db")
}

/// Returns every version of every entry; none where there is no store.
///
/// # Errors
/// When the store cannot be read, or its index does not fit its texts.
pub fn read(folder: &Path) -> anyhow::Result<Vec<Stored>> {
    let file = file(folder);
    if !file.exists() {
        return Ok(Vec::new());
    }
    let store = ContextStore::open(&file)?;
    let mut all = Vec::new();
    for item in store.tree(None, DEPTH)? {
        let path = item.path;
        for version in 1..=item.version.context("a path is too deep")? {
            let entry = store.read(&path, Some(version))?;
            let note = entry.note.unwrap_or_default();
            all.push(Stored { path: path.clone(), version, note, text: entry.content });
        }
    }
    let connection = Connection::open(&file)?;
    let check = "INSERT INTO chunk_index (chunk_index, rank) VALUES ('integrity-check', 1)";
    connection.execute_batch(check).context("the index does not fit the texts")?;
    Ok(all)
}
