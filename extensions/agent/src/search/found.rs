//! Reads from a run's history which deferred tools the model has found. The functions are pure.

use toolwright::{Answer, Catalog};

use super::tools::{NOT_LISTED, TOOL_SEARCH, is_searched};
use crate::history::{Message, json_of};

/// Returns the names of the deferred tools that the model is shown from now on, in the order in which it found them.
pub(crate) fn found(history: &[Message], catalog: &Catalog) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    if !is_searched(catalog) {
        return found;
    }
    for message in history {
        let Message::ToolResults(answered) = message else { continue };
        for (call, answer) in answered.iter() {
            let names = match answer.error() {
                Some(error) if error.kind() == NOT_LISTED => vec![call.name.clone()],
                None if call.name == TOOL_SEARCH => names(answer),
                _ => continue,
            };
            for name in names {
                if catalog.get(&name).is_some() && !found.contains(&name) {
                    found.push(name);
                }
            }
        }
    }
    found
}

fn names(answer: &Answer) -> Vec<String> {
    let answer = json_of(answer);
    let tools = answer["tools"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
}
