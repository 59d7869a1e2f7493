//! Marks answers that may contain untrusted texts.

use std::collections::BTreeSet;

use serde::Serialize;
use toolwright::{Content, Output, ToolError};

/// Makes a tool's output from a value; marks it as untrusted if there are sources.
pub(super) fn mark_value<'s>(
    value: &impl Serialize,
    sources: impl IntoIterator<Item = &'s str>,
) -> Result<Output, ToolError> {
    let json = serde_json::to_value(value).map_err(ToolError::internal)?;
    let text = serde_json::to_string(value).map_err(ToolError::internal)?;
    Ok(mark(Output::default().with(Content::json(text)).structured(json), sources))
}

/// Marks an output as untrusted if there are sources. If a text has several sources, each is on a line of its own.
pub(super) fn mark<'s>(output: Output, sources: impl IntoIterator<Item = &'s str>) -> Output {
    let sources: BTreeSet<&str> = sources.into_iter().flat_map(str::lines).collect();
    let sources: Vec<&str> = sources.into_iter().collect();
    match sources.as_slice() {
        [] => output,
        [one] => output.untrusted(one),
        several => {
            let output = output.untrusted("stored texts of several strangers");
            several.iter().fold(output, |output, source| output.also_untrusted(source))
        }
    }
}
