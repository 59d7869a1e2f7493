//! An input inside of a wrapper object, as models copy it from the format of a call.

use super::tool_name::ToolName;
use toolwright_core::json::tree::Node;

/// The keys of a wrapper under which models put the input.
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
/// The keys, with a text as value, that a wrapper may have beside the input.
const COMPANIONS: &[&str] = &["name", "id", "type", "tool", "tool_name", "recipient_name"];
/// Those of these keys that name the tool.
const NAMES: &[&str] = &["name", "tool", "tool_name", "recipient_name"];

/// The content of an object that may be a wrapper.
pub(super) enum WrappedInput<'n> {
    /// The input of the tool.
    Input(&'n Node),
    /// The wrapper contains the input of the tool with this name, which is not the expected tool.
    OfAnother(&'n str),
    /// The wrapper contains no input.
    Nothing,
}

/// Returns the value under a wrapper's key; a key that the tool's own schema has is not such a key.
///
/// Keys beside it are dropped, so they must not be keys of the input either, unless the input has that key itself or
/// tags around the text show that it is a call. A name beside it must be that of the tool.
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
