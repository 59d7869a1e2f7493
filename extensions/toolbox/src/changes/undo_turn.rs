//! `undo_turn` undoes the changes of one turn.
//!
//! # What it does
//! It restores each file that the calls of the turn changed, the most recently changed first, as `undo_file` does. If a
//! file cannot be restored, it continues with the other files; the answer has a line for each. Each restored file is a
//! change of its own in the log.
//!
//! # What it may touch
//! It writes the files that the turn changed according to the log, and the folders above them.
//!
//! # What it refuses
//! A turn without changes in effect; the turn of the call itself, which still runs; for each file, what `undo_file` refuses. If no file could be restored, it fails.

use toolwright::{ErrorClass, ToolContext, ToolError, error_kind, tool};

use super::database::unavailable;
use super::log::ChangeLog;
use super::plan::WantedChanges;
use super::record::CallFacts;
use super::tool::milliseconds;

/// Take back what the calls of one turn changed in files. Each file gets the content and mode that it had before the turn;
/// what something else changed since is left alone, and the answer says so.
#[tool(
    unlinked,
    group = "file",
    danger = moderate,
    effect = once,
    writes(file = log.written_in_turn(context, turn, run.as_deref())),
    blocking
)]
pub fn undo_turn(
    log: &ChangeLog,
    context: &ToolContext,
    /// The number of the turn.
    #[arg(positional)]
    turn: u64,
    /// The run that the turn belongs to. When absent, the run of this call; for a call outside of a conversation, such as
    /// a command, the run that changed files last.
    run: Option<String>,
) -> Result<String, ToolError> {
    let nothing = |run: &str| {
        let message = format!("the log has no change of turn {turn} of {run} in effect");
        ToolError::new(error_kind::NOT_FOUND, message)
            .class(ErrorClass::Final)
            .hint("`file_history` lists the changes with their turns")
    };
    let Some(run) = log.run_meant(context, run.as_deref()).map_err(unavailable)? else {
        return Err(nothing("any run"));
    };
    // The other calls of this turn may change files that the footprint of this call does not name.
    if context.turn() == Some(turn) && context.run_id() == Some(run.as_str()) {
        let message =
            format!("turn {turn} is the turn of this call, and its other calls may still run");
        return Err(ToolError::new("busy", message)
            .class(ErrorClass::Final)
            .hint("take single files back with `undo_file`, or this turn in the next one"));
    }
    let (call, now) = (CallFacts::of(context), milliseconds());
    let (mut lines, mut restored) = (Vec::new(), 0);
    for name in log.names_of_turn(&run, turn).map_err(unavailable)? {
        match log.undo(&call, &name, WantedChanges::Turn { run: &run, turn }, now) {
            Ok(undone) => {
                restored += 1;
                lines.push(undone.words);
                lines.extend(
                    undone.rest.map(|rest| format!("older changes were not undone: {rest}")),
                );
            }
            // Every change of this file is already undone, which is no failure.
            Err(error) if error.kind() == error_kind::NOT_FOUND => {}
            Err(error) => lines.push(format!("not restored: {error}")),
        }
    }
    log.prune(now);
    match (restored, lines.is_empty()) {
        (_, true) => Err(nothing(&format!("run `{run}`"))),
        (0, false) => Err(ToolError::new(
            "not_undone",
            format!("no file of turn {turn} of run `{run}` was restored\n{}", lines.join("\n")),
        )
        .class(ErrorClass::Final)),
        _ => Ok(format!("turn {turn} of run `{run}`:\n{}", lines.join("\n"))),
    }
}
