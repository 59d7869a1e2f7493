//! Finds the input inside of a wrapper object that a model copied from the format of a call.

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
/// The keys that a wrapper may have besides the input. Their values are texts.
const COMPANIONS: &[&str] = &["name", "id", "type", "tool", "tool_name", "recipient_name"];
/// The keys in `COMPANIONS` whose values name the tool.
const NAMES: &[&str] = &["name", "tool", "tool_name", "recipient_name"];

/// The content of an object that may be a wrapper.
pub(super) enum WrappedInput<'n> {
    /// The input of the tool.
    Input(&'n Node),
    /// The wrapper contains the input of another tool, which has this name.
    OfAnother(&'n str),
    /// The wrapper contains no input.
    Nothing,
}

/// Finds the value under the key of a wrapper, such as `arguments`. If the tool's own schema has that key, the object
/// is not a wrapper.
///
/// The other keys of the wrapper are dropped. So each of them has to be a key that models write next to an input, with
/// a text as its value. A key of the tool's schema is dropped in two cases only: if the input itself has the key too,
/// or if the key is the `name` of a call with `arguments`, in a text that is known to be a call. If a dropped key names
/// another tool, that name is returned.
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
