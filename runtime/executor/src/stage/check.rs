//! In debug builds, sees to it that a tool returns what its output schema promises.

use crate::registry::Entry;
use toolwright_core::error::ToolError;
use toolwright_core::output::Answer;

#[inline]
pub(crate) fn check(entry: &Entry, answer: Answer) -> Result<Answer, ToolError> {
    if cfg!(debug_assertions)
        && let (Some(json), Some(checker)) = (answer.json(), entry.output())
        && let Err(problems) = checker.check_text(json)
    {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let cause = format!(
            "the output of `{}` at {} breaks its own schema: {}",
            entry.definition.name,
            entry.definition.location,
            problems.join("; ")
        );
        return Err(ToolError::new(
            "invalid_output",
            "the tool ran, but its result is not what it promises",
        )
        .caused_by(cause));
    }
    Ok(answer)
}
