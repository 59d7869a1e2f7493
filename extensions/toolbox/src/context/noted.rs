//! Notes of versions, by which a call that is repeated recognizes what it has written before its process was interrupted.

use rusqlite::{OptionalExtension as _, params};
use toolwright::ToolError;

use super::database::unavailable;
use super::path::LogicalPath;
use super::store::{Before, ContextEntry, ContextStore, NewText, StoredEntry, entry_of};

/// How many lines the note of a version may get by calls that found its text unchanged. A repeated call follows soon after
/// the first one, so the notes of earlier calls are not needed.
const MOST_LINES: usize = 20;

impl ContextStore {
    /// Reads the first version of an entry whose note is `note`, or contains `note` as a line. Returns `None` if there
    /// is no such version.
    pub(super) fn read_noted(
        &self,
        path: &LogicalPath,
        note: &str,
    ) -> Result<Option<ContextEntry>, ToolError> {
        let query = "SELECT v.version, e.version, v.content, v.hash, v.note, e.source, v.untrusted
            FROM entries e JOIN versions v ON v.entry = e.id
            WHERE e.path = ?1
              AND instr(char(10) || v.note || char(10), char(10) || ?2 || char(10)) > 0
            ORDER BY v.version LIMIT 1";
        self.connection()
            .prepare_cached(query)
            .and_then(|mut statement| {
                statement.query_row(params![path.as_str(), note], entry_of).optional()
            })
            .map_err(unavailable)
    }

    /// Writes as [`put`](Self::put) does. If the text is unchanged, adds the note to the present version, so that
    /// [`read_noted`](Self::read_noted) finds it.
    pub(super) fn put_noted(
        &self,
        path: &LogicalPath,
        before: Before<'_>,
        text: &NewText<'_>,
    ) -> Result<StoredEntry, ToolError> {
        self.write_with(|transaction| {
            let stored = self.put_in(transaction, path, before, text)?;
            let query = "SELECT v.rowid, v.note FROM versions v JOIN entries e ON e.id = v.entry
                WHERE e.path = ?1 AND v.version = ?2";
            let (row, present): (i64, Option<String>) = transaction
                .query_row(query, params![path.as_str(), stored.version], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .map_err(unavailable)?;
            let (present, added) = (present.unwrap_or_default(), text.note.unwrap_or_default());
            if present != added {
                let set = "UPDATE versions SET note = ?2 WHERE rowid = ?1";
                transaction
                    .execute(set, params![row, with_line(&present, added)])
                    .map_err(unavailable)?;
            }
            Ok(stored)
        })
    }
}

/// Adds a line to a note. The first line says why the version was written, so it remains; of the others, only the last ones do.
fn with_line(note: &str, line: &str) -> String {
    let mut lines: Vec<&str> = note.lines().chain([line]).collect();
    let surplus = lines.len().saturating_sub(MOST_LINES);
    lines.drain(1..=surplus);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_has_its_first_line_and_the_last_calls() {
        assert_eq!(with_line("", "a"), "a");
        let note = (0..100).fold("why".to_owned(), |note, it| with_line(&note, &it.to_string()));
        assert_eq!(note.lines().count(), MOST_LINES);
        assert!(note.starts_with("why\n81\n") && note.ends_with("\n99"), "{note}");
    }
}
