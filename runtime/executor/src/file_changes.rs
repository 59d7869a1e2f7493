//! What a log of changes offers to a program that takes the changes of calls back: the record of a run names the calls, the log
//! knows their files.

use std::fmt;

use futures::future::BoxFuture;
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;

/// The calls whose changes are taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangingCalls {
    /// Those of these turns, by run and number.
    pub turns: Vec<(String, u64)>,
    /// Others, which belong to no turn: calls that calls have made.
    pub calls: Vec<CallId>,
}

/// What becomes of the files that calls have changed, when their changes are taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoredFiles {
    /// The files that get back what was there before the calls: none where one of them is refused.
    pub restored: Vec<String>,
    /// The files that cannot get it back.
    pub refused: Vec<RefusedFile>,
    /// The calls all of whose changes the log has.
    pub recorded: Vec<CallId>,
    /// The calls that may have changed files which the log does not know.
    pub unrecorded: Vec<UnrecordedCall>,
}

/// A file that cannot get back what was there before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedFile {
    /// Its name in the workspace.
    pub name: String,
    /// Why not.
    pub why: String,
}

impl fmt::Display for RefusedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.why)
    }
}

/// A call that may have changed files which the log does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrecordedCall {
    /// The call.
    pub call: CallId,
    /// Its tool.
    pub tool: String,
    /// Its turn, where it belongs to one.
    pub turn: Option<u64>,
}

/// The changes of files in one workspace, as a log of them knows them.
pub trait FileChanges: Send + Sync {
    /// Finds what becomes of the files when the changes of these calls are taken back. Changes no file.
    fn examine<'a>(
        &'a self,
        calls: &'a ChangingCalls,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>>;

    /// Takes the changes of these calls back, and records that as changes of the call `by`. It changes no file where one of them
    /// is refused. Called again after a crash, with the same `by`, it restores what is left.
    fn take_back<'a>(
        &'a self,
        calls: &'a ChangingCalls,
        by: CallId,
        run: &'a str,
    ) -> BoxFuture<'a, Result<RestoredFiles, ToolError>>;
}
