//! The states of a task, and the allowed changes between them; pure.

use std::fmt;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// The state of a task.
#[toolwright::data]
#[serde(rename_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    /// It may begin when what blocks it is completed.
    Pending,
    /// Somebody works on it.
    InProgress,
    /// It goes on when something has happened that no worker does; moving it back to `pending` lets it.
    Waiting,
    /// It is done.
    Completed,
    /// It cannot be done as it is.
    Failed,
    /// It is gone.
    Deleted,
}

impl TaskStatus {
    /// Every state, in the order of the declaration.
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::InProgress,
        Self::Waiting,
        Self::Completed,
        Self::Failed,
        Self::Deleted,
    ];

    /// Returns the name of the state, as tools write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Deleted => "deleted",
        }
    }

    /// Returns whether a task in this state may move to another. A task that has ended has to become `pending` first; a deleted
    /// task cannot be restored.
    ///
    /// ```
    /// use toolwright_toolbox::TaskStatus;
    ///
    /// assert!(TaskStatus::Pending.may_become(TaskStatus::InProgress));
    /// assert!(!TaskStatus::Completed.may_become(TaskStatus::InProgress));
    /// assert!(!TaskStatus::Deleted.may_become(TaskStatus::Pending));
    /// ```
    #[must_use]
    pub fn may_become(self, to: Self) -> bool {
        match self {
            Self::Deleted => false,
            Self::Completed | Self::Failed => matches!(to, Self::Pending | Self::Deleted),
            Self::Pending | Self::InProgress | Self::Waiting => to != self,
        }
    }

    /// Returns the states from which a task may move to this state.
    pub(super) fn before(self) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |from| from.may_become(self))
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl ToSql for TaskStatus {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.word().into())
    }
}

impl FromSql for TaskStatus {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = value.as_str()?;
        Self::ALL.into_iter().find(|it| it.word() == word).ok_or(FromSqlError::InvalidType)
    }
}
