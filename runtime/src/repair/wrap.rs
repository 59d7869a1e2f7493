//! The input inside one more object, as models copy it from the shape of a call.

use super::tree::Node;

/// Keys that hold the input.
const HOLDERS: &[&str] = &[
    "arguments",
    "input",
    "parameters",
    "properties",
    "args",
    "kwargs",
    "params",
    "tool_input",
    "function",
];
/// Keys that may stand beside it, with a text.
const COMPANIONS: &[&str] = &["name", "id", "type", "tool", "tool_name", "recipient_name"];

/// The value that a holder holds; a key of the schema is no holder.
pub(super) fn held(node: &Node, is_key: impl Fn(&str) -> bool) -> Option<&Node> {
    let Node::Object(entries) = node else { return None };
    let holds = |key: &str| HOLDERS.contains(&key) && !is_key(key);
    let accompanies = |key: &str, value: &Node| {
        COMPANIONS.contains(&key) && !is_key(key) && matches!(value, Node::Text(_))
    };
    let mut holders = entries.iter().filter(|(key, _)| holds(key));
    let (holder, inner) = holders.next()?;
    let alone = entries.iter().all(|(key, value)| key == holder || accompanies(key, value));
    alone.then_some(inner)
}
