//! The ticket of a run: the service through which the tools reach the board.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use toolwright::runtime::ResourceKind;
use toolwright::{ToolContext, ToolError};

use crate::Board;
use crate::git;
use crate::ticket::Comment;

/// The one ticket that a run works on.
#[derive(Debug, Clone)]
pub struct CurrentTicket {
    pub(super) board: Arc<Board>,
    pub(super) id: i64,
    pub(super) project: i64,
    worktree: PathBuf,
}

/// A ticket as what calls touch, so that a call that reads it comes after one that writes it.
pub struct OnTicket;

impl ResourceKind for OnTicket {
    const LABEL: &'static str = "ticket";
}

impl CurrentTicket {
    /// Makes the ticket of a run that works in this worktree.
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

    /// The name of the ticket among the resources that calls touch.
    pub(super) fn resource(&self) -> String {
        self.id.to_string()
    }

    /// The newest comments, which count as read then. Where older ones of people would be left out, none counts as read.
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

    /// What the worktree holds, as the id of a tree of git.
    pub(super) fn tree(&self) -> Result<String, ToolError> {
        git::tree(&self.worktree).map_err(|error| {
            ToolError::new("no_tree", format!("the files of the ticket cannot be compared with those that were checked: {error}"))
        })
    }
}

/// The time of a call.
pub(super) fn now(context: &ToolContext) -> Timestamp {
    Timestamp::try_from(context.now()).unwrap_or(Timestamp::MAX)
}
