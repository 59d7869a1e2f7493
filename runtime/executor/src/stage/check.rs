//! Checks that a tool returns what its output schema promises: a serialised value in debug builds, because its type is what
//! the schema is made of, and a structured value that was put together by hand always.

use std::borrow::Cow;
use toolwright_core::error_kind;

use crate::registry::Entry;
use toolwright_core::error::ToolError;
use toolwright_core::output::Answer;

#[inline]
pub(crate) fn check(entry: &Entry, answer: Answer) -> Result<Answer, ToolError> {
    if let Some(json) = promised(&answer)
        && let Some(checker) = entry.output()
        && let Err(problems) = checker.check_text(&json)
    {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let cause = format!(
            "the output of `{}` at {} breaks its own schema: {}",
            entry.definition.name,
            entry.definition.location,
            problems.join("; ")
        );
        return Err(ToolError::new(
            error_kind::INVALID_OUTPUT,
            "the tool ran, but its result is not what it promises",
        )
        .caused_by(cause));
    }
    Ok(answer)
}

/// The value that is held to the schema.
#[inline]
fn promised(answer: &Answer) -> Option<Cow<'_, str>> {
    match answer.json() {
        Some(json) => cfg!(debug_assertions).then_some(Cow::Borrowed(json)),
        None => Some(Cow::Owned(answer.output()?.structured.as_ref()?.to_string())),
    }
}
