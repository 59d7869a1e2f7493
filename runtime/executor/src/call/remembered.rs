//! The answers of child calls that may change something and that no journal records. A further attempt of their parent
//! receives these answers, and does not run the children twice.

use std::sync::{Mutex, MutexGuard, PoisonError};

use toolwright_core::call::Call;
use toolwright_core::error::ToolError;
use toolwright_core::error_kind;
use toolwright_core::output::{Answer, StoredAnswer};

/// The children of a call, by their index.
pub(crate) struct RecordedChildren {
    /// Whether the parent may have a further attempt, which would need the children's answers.
    is_needed: bool,
    children: Mutex<Vec<Option<Child>>>,
}

/// A child that an attempt has begun.
struct Child {
    tool: Box<str>,
    arguments: Box<str>,
    /// The answer of the child; `None` if the child has not ended.
    answer: Option<StoredAnswer>,
}

impl RecordedChildren {
    pub(super) fn new(is_needed: bool) -> Self {
        Self { is_needed, children: Mutex::default() }
    }

    /// Returns the answer of a child in an earlier attempt; `None` if the child was not begun. The answer is an error
    /// if the child had no answer then, or if the earlier attempt made another call at this index.
    pub(crate) fn answer(&self, index: u32, parent: &str, call: &Call<'_>) -> Option<Answer> {
        let children = self.children();
        let child = children.get(index as usize)?.as_ref()?;
        if (&*child.tool, &*child.arguments) != (call.name(), call.arguments()) {
            return Some(other_child(index, parent, &child.tool, call.name()).into());
        }
        let answer = child.answer.clone().map(StoredAnswer::into_answer);
        Some(answer.unwrap_or_else(|| unknown(call.name()).into()))
    }

    /// Notes that a child is about to begin.
    pub(crate) fn begins(&self, index: u32, call: &Call<'_>) {
        if !self.is_needed {
            return;
        }
        let (mut children, index) = (self.children(), index as usize);
        if children.len() <= index {
            children.resize_with(index + 1, || None);
        }
        if let Some(child) = children.get_mut(index) {
            let (tool, arguments) = (call.name().into(), call.arguments().into());
            *child = Some(Child { tool, arguments, answer: None });
        }
    }

    /// Records the answer of a child.
    pub(crate) fn ends(&self, index: u32, answer: &Answer) {
        if let Some(Some(child)) = self.children().get_mut(index as usize) {
            child.answer = Some(answer.into());
        }
    }

    fn children(&self) -> MutexGuard<'_, Vec<Option<Child>>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the error for a child that differs from the call which an earlier attempt made at this index.
fn other_child(index: u32, parent: &str, before: &str, now: &str) -> ToolError {
    ToolError::new(
        error_kind::OTHER_CHILD,
        format!(
            "`{now}` was not called: the call {index} that `{parent}` makes was one of `{before}` with other arguments when it ran before"
        ),
    )
    .hint("go on without it")
}

/// Makes the error of a child that an earlier attempt began without receiving an answer, so that its outcome is
/// unknown.
fn unknown(tool: &str) -> ToolError {
    ToolError::new(
        error_kind::INDETERMINATE,
        format!("`{tool}` was begun before and cut short, and it is unknown whether it happened"),
    )
    .hint("do not repeat it; a person has to find out")
}
