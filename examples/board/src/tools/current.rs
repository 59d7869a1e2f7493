//! The service by which the tools access the ticket of a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use toolwright::runtime::ResourceKind;
use toolwright::{ToolContext, ToolError};

use crate::Board;
use crate::git;
use crate::ticket::Comment;

/// The only ticket that a run works on.
#[derive(Debug, Clone)]
pub struct CurrentTicket {
    pub(super) board: Arc<Board>,
    pub(super) id: i64,
    pub(super) project: i64,
    worktree: PathBuf,
}

/// The ticket as a declared resource, so that calls that read it wait for calls that write it.
pub struct OnTicket;

impl ResourceKind for OnTicket {
    const LABEL: &'static str = "ticket";
}

impl CurrentTicket {
    /// Makes the ticket of a run, with the worktree in which the run works.
    #[must_use]
    pub fn new(board: Arc<Board>, id: i64, project: i64, worktree: impl Into<PathBuf>) -> Self {
        Self { board, id, project, worktree: worktree.into() }
    }

    /// Returns the id of the ticket.
    #[must_use]
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Returns the folder in which the run works.
    #[must_use]
    pub fn worktree(&self) -> &Path {
        &self.worktree
    }

    /// Returns the board.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Returns the resource name of the ticket.
    pub(super) fn resource(&self) -> String {
        self.id.to_string()
    }

    /// Returns the newest comments and marks them as read. If older unread comments of people do not fit, marks none.
    pub(super) fn read_comments(&self, most: u32) -> Result<Vec<Comment>, ToolError> {
        let comments = self.board.newest_comments(self.id, most)?;
        let unread = self.board.words_of_people(self.id, self.board.comments_read(self.id)?)?;
        if let (Some(newest), Some(oldest), Some(first)) =
            (comments.first(), comments.last(), unread.first())
            && oldest.id <= first.id
        {
            self.board.mark_read(self.id, newest.id)?;
        }
        Ok(comments)
    }

    /// Returns the git tree id of the worktree.
    pub(super) fn tree(&self) -> Result<String, ToolError> {
        git::tree(&self.worktree).map_err(|error| {
            ToolError::new("no_tree", format!("the files of the ticket cannot be compared with those that were checked: {error}"))
        })
    }
}

/// Returns the time at which a call began.
pub(super) fn now(context: &ToolContext) -> Timestamp {
    Timestamp::try_from(context.now()).unwrap_or(Timestamp::MAX)
}
