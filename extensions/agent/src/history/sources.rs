//! Finds the untrusted sources in a history.

use std::collections::BTreeSet;

use super::Message;

/// Lists the sources of untrusted text in the answers and in the messages of a history, such as the results of calls in
/// the background.
pub(crate) fn sources(history: &[Message]) -> BTreeSet<String> {
    let mut sources = BTreeSet::new();
    for message in history {
        match message {
            Message::User { untrusted, .. } => sources.extend(untrusted.iter().cloned()),
            Message::Assistant { .. } => {}
            Message::ToolResults(answered) => {
                sources.extend(answered.iter().flat_map(|(_, answer)| answer.untrusted_sources()));
            }
        }
    }
    sources
}
