//! Finds the untrusted sources in a history.

use std::collections::BTreeSet;

use super::Message;

/// Lists the sources of untrusted text in the answers of a history.
pub(crate) fn sources(history: &[Message]) -> BTreeSet<String> {
    let answered = history.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    let answers = answered.flat_map(|it| it.iter());
    answers.flat_map(|(_, answer)| answer.untrusted_sources()).collect()
}
