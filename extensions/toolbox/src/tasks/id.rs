//! The ids of tasks: `task-1`, or `1` for short. Pure.

use std::fmt;

use toolwright::{ErrorClass, ResourceKind, ToolError};

/// The id of a task, for tools that declare what they touch: `writes(TaskId = id)`.
///
/// ```
/// use toolwright::ResourceKind;
/// use toolwright_toolbox::TaskId;
///
/// assert_eq!(TaskId::parse("7")?, TaskId::parse("task-7")?);
/// assert_eq!(TaskId::parse("7")?.to_string(), "task-7");
/// assert_eq!(TaskId::normalise("7"), "task-7");
/// assert_eq!(TaskId::parse("seven").unwrap_err().kind(), "invalid_task_id");
/// # Ok::<(), toolwright::ToolError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub(super) i64);

impl TaskId {
    /// Parses the id of a task, such as `task-1` or `1`.
    ///
    /// # Errors
    /// `invalid_task_id` when the text is not a number above 0, with or without `task-` before it.
    pub fn parse(text: &str) -> Result<Self, ToolError> {
        Self::read(text).ok_or_else(|| {
            let shown = toolwright::untrusted::line(text);
            ToolError::new(
                "invalid_task_id",
                format!("`{shown}` is not a task id, expected one such as `task-1`"),
            )
            .class(ErrorClass::Invalid)
            .hint("list the tasks to find their ids")
        })
    }

    fn read(text: &str) -> Option<Self> {
        let digits = text.trim();
        let digits = digits.strip_prefix("task-").unwrap_or(digits);
        let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
        digits.parse().ok().filter(|id| is_number && *id > 0).map(Self)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "task-{}", self.0)
    }
}

impl ResourceKind for TaskId {
    const LABEL: &'static str = "task";

    fn normalise(name: &str) -> String {
        Self::read(name).map_or_else(|| name.to_owned(), |id| id.to_string())
    }
}
