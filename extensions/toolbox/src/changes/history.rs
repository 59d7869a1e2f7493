//! Lists the entries of the log, and finds the files of a turn.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use rusqlite::params;
use toolwright::{CallId, ToolContext, ToolError};

use super::database::unavailable;
use super::log::ChangeLog;
use super::rows::{CALL, CallOf, Change, call, of_file};
use crate::workspace::Name;

/// One entry of the history.
pub(super) enum Entry {
    Change(Change),
    /// A call that may have written files without naming them in its footprint.
    Unnamed {
        call: CallOf,
        why: String,
    },
}

impl ChangeLog {
    /// Returns the newest changes of one file or of all files, and the newest calls that may have written files without
    /// naming them. Leaves out the changes of the call `asking`, which requests the history.
    pub(super) fn history(
        &self,
        name: Option<&Name>,
        limit: u32,
        asking: CallId,
    ) -> Result<Vec<Entry>, ToolError> {
        let names = match name {
            Some(name) => self.0.workspace.written_names(name)?,
            None => self.newest_names(limit).map_err(unavailable)?,
        };
        let mut entries = Vec::new();
        for name in &names {
            if self.is_cut_short(name).map_err(unavailable)? {
                // A file that can no longer be read must not hide the others. Its change is listed as still running.
                drop(self.complete_cut_short(name));
            }
            let changes = of_file(&self.connection(), name).map_err(unavailable)?;
            let changes = changes.into_iter().filter(|it| it.after.is_none() || it.is_effective());
            entries.extend(changes.filter(|it| it.call.id != asking).map(Entry::Change));
        }
        entries.extend(self.list_unnamed(limit).map_err(unavailable)?);
        entries.sort_by_key(|entry| match entry {
            Entry::Change(change) => (change.call.began, change.number),
            Entry::Unnamed { call, .. } => (call.began, i64::MAX),
        });
        entries.reverse();
        entries.truncate(limit as usize);
        Ok(entries)
    }

    /// Returns the names of the files that were changed most recently.
    fn newest_names(&self, limit: u32) -> rusqlite::Result<Vec<Name>> {
        let connection = self.connection();
        let sql = "SELECT path, max(number) AS newest FROM changes GROUP BY path ORDER BY newest DESC LIMIT ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let paths = statement.query_map([limit], |row| row.get::<_, String>(0))?;
        let paths = paths.collect::<rusqlite::Result<Vec<String>>>()?;
        Ok(paths.iter().filter_map(|path| Name::parse(path).ok()).collect())
    }

    fn list_unnamed(&self, limit: u32) -> rusqlite::Result<Vec<Entry>> {
        let connection = self.connection();
        let sql = format!(
            "SELECT {CALL}, calls.unnamed FROM calls WHERE unnamed IS NOT NULL ORDER BY number DESC LIMIT ?1"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let calls = statement
            .query_map([limit], |row| Ok(Entry::Unnamed { call: call(row)?, why: row.get(6)? }))?;
        calls.collect()
    }

    /// Returns the names of the files that the calls of a turn changed, except by undos, the most recently changed
    /// first.
    pub(super) fn names_of_turn(&self, run: &str, turn: u64) -> rusqlite::Result<Vec<Name>> {
        let connection = self.connection();
        let sql = "SELECT path, changes.number FROM changes JOIN calls ON calls.number = changes.call \
                   WHERE run = ?1 AND turn = ?2 AND is_undo = 0";
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![run, turn.cast_signed()], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        })?;
        let mut newest: BTreeMap<String, i64> = BTreeMap::new();
        for row in rows {
            let (path, number) = row?;
            let known = newest.entry(path).or_default();
            *known = number.max(*known);
        }
        let mut names: Vec<(String, i64)> = newest.into_iter().collect();
        names.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
        Ok(names.iter().filter_map(|(path, _)| Name::parse(path).ok()).collect())
    }

    /// Returns the run whose changes a call refers to: the run that its input names, otherwise the run of the call. For
    /// a call outside of any turn, returns the last run that changed a file in a turn.
    pub(super) fn run_meant(
        &self,
        context: &ToolContext,
        named: Option<&str>,
    ) -> rusqlite::Result<Option<String>> {
        if let Some(run) = named {
            return Ok(Some(run.to_owned()));
        }
        if context.turn().is_some() {
            return Ok(context.run_id().map(ToOwned::to_owned));
        }
        let connection = self.connection();
        let sql = "SELECT run FROM calls WHERE turn IS NOT NULL AND EXISTS (SELECT 1 FROM changes WHERE call = calls.number) \
                   ORDER BY number DESC LIMIT 1";
        let mut statement = connection.prepare_cached(sql)?;
        let mut runs = statement.query_map([], |row| row.get(0))?;
        runs.next().transpose().map(Option::flatten)
    }

    /// Returns the files that an undo of a turn writes, for the footprint of its call. Returns `None`, which means any
    /// file, if the log cannot be read.
    pub(super) fn written_in_turn(
        &self,
        context: &ToolContext,
        turn: u64,
        run: Option<&str>,
    ) -> Option<Vec<String>> {
        let names = || match self.run_meant(context, run)? {
            Some(run) => self.names_of_turn(&run, turn),
            None => Ok(Vec::new()),
        };
        let names = names().ok()?;
        Some(names.iter().map(Name::to_string).collect())
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = match self {
            Self::Change(change) => {
                write!(formatter, "{}  {}  ", change.number, time(change.call.began))?;
                write!(
                    formatter,
                    "`{}` {} `{}`",
                    change.call.tool,
                    change.operation(),
                    change.name
                )?;
                &change.call
            }
            Self::Unnamed { call, why } => {
                write!(
                    formatter,
                    "-  {}  `{}` may have changed files: {why}",
                    time(call.began),
                    call.tool
                )?;
                call
            }
        };
        let turn = call.turn.map(|turn| format!("turn {turn}, ")).unwrap_or_default();
        let run = call.run.as_ref().map(|run| format!("run `{run}`, ")).unwrap_or_default();
        write!(formatter, "  ({turn}{run}call {})", call.id)?;
        match self {
            Self::Change(Change { undone_by: Some(by), .. }) => {
                write!(formatter, "  undone by change {by}")
            }
            Self::Change(Change { after: None, .. }) => write!(formatter, "  still runs"),
            Self::Change(_) => Ok(()),
            Self::Unnamed { .. } => write!(formatter, "  cannot be undone"),
        }
    }
}

/// Formats a time to the second.
fn time(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds)
        .map_or_else(|_| milliseconds.to_string(), |it| it.strftime("%F %T UTC").to_string())
}
