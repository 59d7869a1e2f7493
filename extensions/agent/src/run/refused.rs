//! Finds the tools that a run leaves out because several calls of them in a row were refused. Pure: depends only on the
//! history.

use std::collections::BTreeMap;

use toolwright::{Answer, ErrorClass, ToolError, error_kind};

use crate::history::Message;

/// The number of refusals in a row, by the policy or by a person, after which a tool is left out.
const TIMES: u32 = 5;

/// Returns the tools that are left out after these messages, sorted by name.
pub(super) fn refused<'m>(history: impl IntoIterator<Item = &'m Message>) -> Vec<String> {
    let mut in_a_row = BTreeMap::<&str, u32>::new();
    for message in history {
        let Message::ToolResults(answered) = message else { continue };
        for (call, answer) in answered.iter() {
            let times = in_a_row.entry(&call.name).or_default();
            // A tool that was left out stays left out: later calls of it fail like calls of an unknown tool.
            if *times < TIMES {
                *times = if is_refused(answer) { *times + 1 } else { 0 };
            }
        }
    }
    in_a_row.retain(|_, times| *times >= TIMES);
    in_a_row.into_keys().map(str::to_owned).collect()
}

fn is_refused(answer: &Answer) -> bool {
    let kind = answer.error().map(toolwright::ToolError::kind);
    kind.is_some_and(|kind| [error_kind::DENIED, error_kind::REJECTED].contains(&kind))
}

/// Returns the error for a call of a tool that is left out.
pub(super) fn left_out(tool: &str) -> ToolError {
    let message =
        format!("`{tool}` is no longer among your tools: its last {TIMES} calls were refused");
    ToolError::new(error_kind::UNKNOWN_TOOL, message)
        .class(ErrorClass::Invalid)
        .hint("go on without it")
}

/// Writes the message, in the user's name, that a tool is left out from now on.
pub(super) fn words(tool: &str) -> String {
    format!(
        "[The last {TIMES} calls of `{tool}` were refused, so that it is no longer among your tools. Go on without it, or say what you would have done with it.]"
    )
}

#[cfg(test)]
mod tests {
    use toolwright::provider::ToolCall;
    use toolwright::{Output, ToolError};

    use super::*;

    /// Makes the answers to calls of a tool, one for each letter of `kinds`: `d` is denied, `r` is rejected, `e` is
    /// another error, and any other letter is a success.
    fn turns(tool: &str, kinds: &str) -> Vec<Message> {
        let turn = |kind: char| {
            let call = ToolCall { id: None, name: tool.to_owned(), arguments: String::new() };
            let answer: Answer = match kind {
                'd' => ToolError::new(error_kind::DENIED, "no").into(),
                'r' => ToolError::new(error_kind::REJECTED, "no").into(),
                'e' => ToolError::new("broken", "no").into(),
                _ => Output::text("yes").into(),
            };
            Message::tool_results([(call, answer)])
        };
        kinds.chars().map(turn).collect()
    }

    #[test]
    fn five_refusals_in_a_row_leave_a_tool_out_and_nothing_brings_it_back() {
        for (kinds, is_out) in [
            ("drdr", false),
            ("drdrd", true),
            ("drdrdy", true),
            ("drdryd", false),
            ("drdredrdr", false),
            ("ydrdrd", true),
        ] {
            assert_eq!(refused(&turns("delete", kinds)).len(), usize::from(is_out), "{kinds}");
        }
        let mut mixed = turns("delete", "dddd");
        mixed.extend(turns("look", "y"));
        mixed.extend(turns("delete", "d"));
        assert_eq!(refused(&mixed), ["delete"]);
    }
}
