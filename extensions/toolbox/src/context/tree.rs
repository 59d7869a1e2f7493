//! Lists entries, and the folders that their paths imply.

use std::collections::BTreeMap;

use rusqlite::params;
use toolwright::ToolError;

use super::database::unavailable;
use super::path::LogicalPath;
use super::store::ContextStore;

/// An entry, or a folder of entries that are too deep to be listed.
#[toolwright::data]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextItem {
    /// The logical path; that of a folder ends with `/`.
    pub path: String,
    /// How many entries are in the folder; absent for an entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<usize>,
    /// The size of the text, or of all texts in the folder, in bytes.
    pub bytes: i64,
    /// The number of the last version; absent for a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

impl ContextStore {
    /// Lists the entries below `folder`, or all entries, sorted by path. Folders deeper than `max_depth` are one item each.
    ///
    /// # Errors
    /// `invalid_path`; `context_unavailable` when SQLite fails.
    pub fn tree(
        &self,
        folder: Option<&str>,
        max_depth: usize,
    ) -> Result<Vec<ContextItem>, ToolError> {
        let folder = LogicalPath::parse_folder(folder)?;
        let folder = folder.as_ref().map(LogicalPath::as_str);
        let select = "SELECT path, bytes, version FROM entries
            WHERE ?1 IS NULL OR path = ?1 OR substr(path, 1, length(?1) + 1) = ?1 || '/'";
        let read = || {
            let connection = self.connection();
            let mut statement = connection.prepare_cached(select)?;
            let rows = statement
                .query_map(params![folder], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, i64, u32)>>>()
        };
        let above = folder.map_or(0, |folder| folder.split('/').count());
        Ok(items(read().map_err(unavailable)?, above.saturating_add(max_depth.max(1))))
    }
}

/// Combines entries whose paths have more than `depth` parts into folders; pure.
fn items(entries: Vec<(String, i64, u32)>, depth: usize) -> Vec<ContextItem> {
    let mut items: BTreeMap<String, ContextItem> = BTreeMap::new();
    for (path, bytes, version) in entries {
        match path.match_indices('/').nth(depth - 1) {
            None => {
                let item = ContextItem {
                    path: path.clone(),
                    entries: None,
                    bytes,
                    version: Some(version),
                };
                items.insert(path, item);
            }
            Some((end, _)) => {
                let folder = path[..=end].to_owned();
                let empty =
                    ContextItem { path: folder.clone(), entries: Some(0), bytes: 0, version: None };
                let item = items.entry(folder).or_insert(empty);
                item.bytes += bytes;
                item.entries = item.entries.map(|entries| entries + 1);
            }
        }
    }
    items.into_values().collect()
}
