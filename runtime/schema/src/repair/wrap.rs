//! An input inside of a wrapper object, as models copy it from the format of a call.

use super::tool_name::ToolName;
use toolwright_core::json::tree::Node;

/// Keys of a wrapper whose value is the input.
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
/// Other keys that a wrapper may have, each with a text as its value.
const COMPANIONS: &[&str] = &["name", "id", "type", "tool", "tool_name", "recipient_name"];
/// The keys in `COMPANIONS` that name the tool.
const NAMES: &[&str] = &["name", "tool", "tool_name", "recipient_name"];

/// The content of an object that may be a wrapper.
pub(super) enum WrappedInput<'n> {
    /// The input of the tool.
    Input(&'n Node),
    /// The input of another tool, with this name.
    OfAnother(&'n str),
    /// No input by itself.
    Nothing,
}

/// Returns the value of a wrapper's key; a key of the tool's schema does not count as a wrapper's key.
///
/// The other keys of the wrapper are dropped. So each of them has to be one that models write beside an input, with a
/// text as its value. A key of the tool's schema is dropped only if the input has that key itself, or if the text is
/// known to be a call and the key is its `name`. If a dropped key names another tool, returns that name.
pub(super) fn find_input<'n>(
    node: &'n Node,
    is_call: bool,
    name: &ToolName,
    is_key: impl Fn(&str) -> bool,
) -> WrappedInput<'n> {
    let Node::Object(entries) = node else { return WrappedInput::Nothing };
    let mut holders =
        entries.iter().filter(|(key, _)| HOLDERS.contains(&key.as_str()) && !is_key(key));
    let Some((holder, inner)) = holders.next() else { return WrappedInput::Nothing };
    let gives = |wanted: &str| match inner {
        Node::Object(inner) => inner.iter().any(|(key, _)| key == wanted),
        _ => false,
    };
    let accompanies = |key: &str, value: &Node| {
        COMPANIONS.contains(&key)
            && matches!(value, Node::Text(_))
            && (!is_key(key) || gives(key) || (is_call && key == "name" && holder == "arguments"))
    };
    if !entries.iter().all(|(key, value)| key == holder || accompanies(key, value)) {
        return WrappedInput::Nothing;
    }
    let other = entries.iter().find_map(|(key, value)| match value {
        Node::Text(called) if NAMES.contains(&key.as_str()) && !name.is(called) => Some(called),
        _ => None,
    });
    other.map_or(WrappedInput::Input(inner), |called| WrappedInput::OfAnother(called))
}
