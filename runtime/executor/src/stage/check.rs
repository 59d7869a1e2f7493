//! Checks that a tool's result matches its output schema. Structured values that a tool built by hand are always
//! checked. Serialised values are checked if the schema is stricter than the Rust type, if the tool is a run-time tool,
//! and in debug builds.

use std::borrow::Cow;
use toolwright_core::error_kind;

use crate::catalog::Entry;
use toolwright_core::error::ToolError;
use toolwright_core::output::Answer;

#[inline]
pub(crate) fn check(entry: &Entry, answer: Answer) -> Result<Answer, ToolError> {
    if let Some(json) = promised(entry, &answer)
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

/// Returns the value of the answer that has to be checked; `None` if there is no such value.
#[inline]
fn promised<'a>(entry: &Entry, answer: &'a Answer) -> Option<Cow<'a, str>> {
    match answer.json() {
        Some(json) => {
            let is_checked = cfg!(debug_assertions) || entry.promises_more();
            is_checked.then_some(Cow::Borrowed(json))
        }
        None => Some(Cow::Owned(answer.output()?.structured.as_ref()?.to_string())),
    }
}
