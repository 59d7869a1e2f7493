//! Rewinds: takes back all changes of some calls at the same time. Examines all their files first, and restores none if
//! one of them cannot be restored.

use std::collections::BTreeMap;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rusqlite::{Connection, params};
use toolwright::unstable::changes::{
    ChangingCalls, FileChanges, RefusedFile, RestoredFiles, UnrecordedCall,
};
use toolwright::{CallId, ErrorClass, ToolError};

use super::back::plan_back;
use super::database::unavailable;
use super::log::ChangeLog;
use super::plan::Refusal;
use super::record::CallFacts;
use super::rows::{CallOf, Change, call, content, of_file};
use super::tool::milliseconds;
use super::undo::{mark, refused};
use crate::blocking::blocking;
use crate::footprint::WrittenFiles;
use crate::step::step;
use crate::workspace::{Name, RecordedFile, State};

/// The name that the history shows instead of a tool for files that a rewind restored.
const REWIND: &str = "rewind";

impl FileChanges for ChangeLog {
    fn examine<'a>(
        &'a self,
        calls: &'a ChangingCalls,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>> {
        let (log, calls) = (self.clone(), calls.clone());
        blocking(move || log.examine_files(&calls).map(|it| it.report)).map(flat).boxed()
    }

    fn take_back<'a>(
        &'a self,
        calls: &'a ChangingCalls,
        by: CallId,
        run: &'a str,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>> {
        let (log, calls) = (self.clone(), calls.clone());
        let (run, tool) = (Some(run.to_owned()), REWIND.to_owned());
        let facts = CallFacts { id: by, run, turn: None, place: None, tool };
        blocking(move || log.taken_back(&calls, &facts, milliseconds())).map(flat).boxed()
    }
}

fn flat<T>(done: Result<Result<T, ToolError>, ToolError>) -> Result<T, ToolError> {
    done.and_then(|it| it)
}

/// The result of examining the files that the calls changed.
struct ExaminedFiles {
    report: RestoredFiles,
    /// The names of the files to be restored, with their present states.
    files: Vec<(Name, State)>,
}

impl ChangeLog {
    fn examine_files(&self, calls: &ChangingCalls) -> Result<ExaminedFiles, ToolError> {
        let (mut report, mut files) = (RestoredFiles::default(), Vec::new());
        let names = names_of(&self.connection(), calls).map_err(unavailable)?;
        for name in names {
            let seen = self.complete_cut_short(&name)?;
            let changes = of_file(&self.connection(), &name).map_err(unavailable)?;
            let planned = plan_back(&changes, |it| is_of(it, calls), &seen.state);
            let refused = |why: &Refusal<'_>| RefusedFile {
                name: name.to_string(),
                why: why.of(&name).to_string(),
            };
            let oldest = match &planned {
                Err(refusal) => {
                    report.refused.push(refused(refusal));
                    continue;
                }
                Ok(None) => continue,
                Ok(Some(back)) => back.oldest(),
            };
            let is_there = oldest.map(|it| content(&self.connection(), &it.before));
            match (oldest, is_there.transpose().map_err(unavailable)?.flatten()) {
                (Some(change), None) => {
                    let why = "its content is no longer in the log";
                    report.refused.push(refused(&Refusal::Unrecorded { change, why }));
                }
                _ => {
                    report.restored.push(name.to_string());
                    files.push((name, seen.state));
                }
            }
        }
        if !report.refused.is_empty() {
            report.restored.clear();
            files.clear();
        }
        let (recorded, unrecorded) = calls_of(&self.connection(), calls).map_err(unavailable)?;
        (report.recorded, report.unrecorded) = (recorded, unrecorded);
        Ok(ExaminedFiles { report, files })
    }

    /// Restores each file as an undo does, and then prunes the log. Skips a file that an interrupted process has already restored.
    pub(super) fn taken_back(
        &self,
        calls: &ChangingCalls,
        by: &CallFacts,
        now: i64,
    ) -> Result<RestoredFiles, ToolError> {
        let ExaminedFiles { report, files } = self.examine_files(calls)?;
        for (name, found) in files {
            step();
            self.restore_examined(&name, &found, calls, by, now)?;
        }
        self.prune(now);
        Ok(report)
    }

    /// Restores a file whose state was `found` when it was examined.
    fn restore_examined(
        &self,
        name: &Name,
        found: &State,
        calls: &ChangingCalls,
        by: &CallFacts,
        now: i64,
    ) -> Result<(), ToolError> {
        let changes = of_file(&self.connection(), name).map_err(unavailable)?;
        // Another process may have pruned the log since the file was examined.
        let gone = || {
            let message =
                format!("`{name}` was not restored: its changes are no longer in the log");
            ToolError::new("not_recorded", message).class(ErrorClass::Final)
        };
        let back = plan_back(&changes, |it| is_of(it, calls), found);
        let back = back.map_err(|why| refused(name, &why))?.ok_or_else(gone)?;
        let oldest = back.oldest().ok_or_else(gone)?;
        let restored = content(&self.connection(), &oldest.before).map_err(unavailable)?;
        let restored = restored.ok_or_else(gone)?;
        let written = WrittenFiles { names: vec![name.clone()], unnamed: None };
        let begun = self.begin(by, &written, now)?;
        let Some(own) = begun.change(name) else {
            let why = "a folder is there now";
            return Err(refused(name, &Refusal::Unrecorded { change: oldest, why }));
        };
        mark(&mut self.connection(), own, &back.changes).map_err(unavailable)?;
        step();
        let before =
            RecordedFile { state: &oldest.before, content: &restored, above: &oldest.above };
        let result = self.0.workspace.restore(name, found, &before);
        // If the log fails here, the next operation on the file completes the change.
        let finished = self.finish_undo(begun, own, result.is_ok());
        result?;
        drop(finished);
        Ok(())
    }
}

/// Returns whether one of these calls made the change.
fn is_of(change: &Change, calls: &ChangingCalls) -> bool {
    is_one_of(&change.call, calls)
}

fn is_one_of(call: &CallOf, calls: &ChangingCalls) -> bool {
    let is_at = |(run, turn): &(String, u64)| {
        call.turn == Some(*turn) && call.run.as_deref() == Some(run.as_str())
    };
    calls.turns.iter().any(is_at) || calls.calls.contains(&call.id)
}

/// Returns the names of the files that these calls have changed, the most recently changed first.
fn names_of(db: &Connection, calls: &ChangingCalls) -> rusqlite::Result<Vec<Name>> {
    let mut newest: BTreeMap<String, i64> = BTreeMap::new();
    let mut add = |rows: Vec<(String, i64)>| {
        for (path, number) in rows {
            let known = newest.entry(path).or_default();
            *known = number.max(*known);
        }
    };
    let from = "SELECT path, changes.number FROM changes JOIN calls ON calls.number = changes.call";
    let mut of_turn = db.prepare_cached(&format!("{from} WHERE run = ?1 AND turn = ?2"))?;
    for (run, turn) in &calls.turns {
        let rows = of_turn
            .query_map(params![run, turn.cast_signed()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        add(rows.collect::<rusqlite::Result<_>>()?);
    }
    let mut of_call = db.prepare_cached(&format!("{from} WHERE calls.id = ?1"))?;
    for call in &calls.calls {
        let id: &[u8] = call.as_bytes();
        let rows = of_call.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        add(rows.collect::<rusqlite::Result<_>>()?);
    }
    let mut names: Vec<(String, i64)> = newest.into_iter().collect();
    names.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    Ok(names.iter().filter_map(|(path, _)| Name::parse(path).ok()).collect())
}

/// Splits these calls into those whose changes are all in the log, and those that may have other effects.
fn calls_of(
    db: &Connection,
    calls: &ChangingCalls,
) -> rusqlite::Result<(Vec<CallId>, Vec<UnrecordedCall>)> {
    let (mut recorded, mut unrecorded) = (Vec::new(), Vec::new());
    let mut add = |found: Vec<(CallOf, bool)>| {
        for (CallOf { id, tool, turn, .. }, is_whole) in found {
            match is_whole {
                true => recorded.push(id),
                false => unrecorded.push(UnrecordedCall { call: id, tool, turn }),
            }
        }
    };
    let select = format!("SELECT {}, calls.unnamed IS NULL FROM calls WHERE", super::rows::CALL);
    let mut of_turn =
        db.prepare_cached(&format!("{select} run = ?1 AND turn = ?2 ORDER BY number"))?;
    for (run, turn) in &calls.turns {
        let rows = of_turn
            .query_map(params![run, turn.cast_signed()], |row| Ok((call(row)?, row.get(6)?)))?;
        add(rows.collect::<rusqlite::Result<_>>()?);
    }
    let mut of_call = db.prepare_cached(&format!("{select} id = ?1"))?;
    for id in &calls.calls {
        let id: &[u8] = id.as_bytes();
        let rows = of_call.query_map([id], |row| Ok((call(row)?, row.get(6)?)))?;
        add(rows.collect::<rusqlite::Result<_>>()?);
    }
    Ok((recorded, unrecorded))
}
