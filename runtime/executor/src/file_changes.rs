//! The interface of a log of file changes, for a program that undoes the changes of calls. The record of a run names
//! the calls, and the log contains the changes of each call.

use std::fmt;

use futures::future::BoxFuture;
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;

/// The calls whose file changes are to be undone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangingCalls {
    /// The turns of which all calls are included, each as the id of its run and the number of the turn.
    pub turns: Vec<(String, u64)>,
    /// Further calls, which belong to no turn because other calls made them.
    pub calls: Vec<CallId>,
}

/// What happens to the files that calls have changed when those changes are undone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoredFiles {
    /// The files whose earlier content is restored; empty if any file is refused.
    pub restored: Vec<String>,
    /// The files that cannot be restored.
    pub refused: Vec<RefusedFile>,
    /// The calls of which the log contains every file change.
    pub recorded: Vec<CallId>,
    /// The calls that may have changed files without an entry in the log.
    pub unrecorded: Vec<UnrecordedCall>,
}

/// A file that cannot be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedFile {
    /// The name of the file in the workspace.
    pub name: String,
    /// Why the file cannot be restored.
    pub why: String,
}

impl fmt::Display for RefusedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.why)
    }
}

/// A call that may have changed files without an entry in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrecordedCall {
    /// The id of the call.
    pub call: CallId,
    /// The tool of the call.
    pub tool: String,
    /// The number of the call's turn; `None` if the call belongs to no turn.
    pub turn: Option<u64>,
}

/// The log of the file changes in one workspace.
pub trait FileChanges: Send + Sync {
    /// Finds what would happen to the files if the changes of these calls were undone. Changes no file.
    fn examine<'a>(
        &'a self,
        calls: &'a ChangingCalls,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>>;

    /// Undoes the changes of these calls, and records that as changes of the call `by`. If one of the files is refused,
    /// no file is changed. When it is called again after a crash with the same `by`, it restores the remaining files.
    fn take_back<'a>(
        &'a self,
        calls: &'a ChangingCalls,
        by: CallId,
        run: &'a str,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>>;
}
