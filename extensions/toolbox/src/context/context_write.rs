//! `context_write` stores a text under a logical path.
//!
//! # What it does
//! It makes an entry, or a new version of one, from a text or from a source. The earlier version can still be read. If
//! the text is unchanged, no new version is made. If the store has an embedding model, the parts of the text get
//! vectors. If the model fails, the text is stored all the same, and the answer says so.
//!
//! # What it may touch
//! It writes the entry that `path` names, and reads the source if one is given.
//!
//! # What it refuses
//! A path that has an entry, unless `on_conflict` is `overwrite`; a call with both a text and a source, or with
//! neither; a text of more than 64 MiB.

use toolwright::{ErrorClass, Reconciled, ToolError, tool};

use super::path::LogicalPath;
use super::store::{Before, ContextStore, NewText, OnConflict, StoredEntry};
use crate::blocking::blocking;
use crate::workspace::content_hash;

/// Write a file under context/. By default, fails if the path already exists - pass on_conflict='overwrite' to replace.
#[tool(
    unlinked,
    group = "context",
    danger = moderate,
    effect = once,
    writes(LogicalPath = path),
    reads(file = files_of(source.as_deref())),
    reconcile = async |store, path, content| -> Result<Reconciled, ToolError> {
        let (store, path): (ContextStore, String) = (store.clone(), path.clone());
        let now = blocking(move || store.read(&path, None)).await?;
        Ok(match (now, content) {
            (Err(error), _) if error.kind() == "not_found" => Reconciled::DidNotHappen,
            (Err(error), _) => return Err(error),
            // This text was never stored: the entry has only one version, with another text.
            (Ok(now), Some(content)) if now.last_version == 1 && now.hash != content_hash(content.as_bytes()) => {
                Reconciled::DidNotHappen
            }
            _ => Reconciled::Unknown,
        })
    }
)]
pub async fn context_write(
    store: &ContextStore,
    /// Logical path, such as `notes/today.md`.
    #[arg(example = "notes/today.md", positional)]
    path: String,
    /// The whole text. Left out where `source` is given.
    #[arg(positional)]
    content: Option<String>,
    /// What to do when the path exists.
    #[arg(default)]
    on_conflict: OnConflict,
    /// Where the text is fetched, now and at each refresh, such as `file:README.md`.
    source: Option<String>,
    /// Why it is written; versions are listed with it.
    note: Option<String>,
) -> Result<StoredEntry, ToolError> {
    let path = LogicalPath::parse(&path)?;
    let (content, untrusted) = match (content, &source) {
        (Some(content), None) => (content, None),
        (None, Some(source)) => store.fetch(source).await?,
        _ => {
            let message = "expected either `content` or `source`, not both";
            return Err(ToolError::invalid(message).class(ErrorClass::Invalid));
        }
    };
    let writer = store.clone();
    let before = match on_conflict {
        OnConflict::Error => Before::Missing,
        OnConflict::Overwrite => Before::Any,
    };
    let written = blocking(move || {
        let text = NewText {
            content: &content,
            note: note.as_deref(),
            source: source.as_deref(),
            untrusted: untrusted.as_deref(),
        };
        writer.put(&path, before, &text)
    });
    let stored = written.await??;
    Ok(StoredEntry { not_embedded: store.embed_in_time().await, ..stored })
}

/// Returns the file that a source names, so that policy rules for files apply to the source.
fn files_of(source: Option<&str>) -> Vec<String> {
    source.and_then(|it| it.strip_prefix("file:")).map(str::to_owned).into_iter().collect()
}
