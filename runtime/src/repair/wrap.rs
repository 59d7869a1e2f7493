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
///
/// What stands beside it is dropped, so it may be no key of the input either, unless the input gives that key
/// itself or tags around the text say that it is a call.
pub(super) fn held(node: &Node, is_call: bool, is_key: impl Fn(&str) -> bool) -> Option<&Node> {
    let Node::Object(entries) = node else { return None };
    let mut holders =
        entries.iter().filter(|(key, _)| HOLDERS.contains(&key.as_str()) && !is_key(key));
    let (holder, inner) = holders.next()?;
    let gives = |wanted: &str| match inner {
        Node::Object(inner) => inner.iter().any(|(key, _)| key == wanted),
        _ => false,
    };
    let accompanies = |key: &str, value: &Node| {
        COMPANIONS.contains(&key)
            && matches!(value, Node::Text(_))
            && (!is_key(key) || gives(key) || (is_call && key == "name" && holder == "arguments"))
    };
    let alone = entries.iter().all(|(key, value)| key == holder || accompanies(key, value));
    alone.then_some(inner)
}
