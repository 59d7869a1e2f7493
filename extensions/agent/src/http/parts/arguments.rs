//! Converts the arguments of calls in the history into JSON objects. Servers such as vLLM and llama.cpp refuse every
//! request whose history has other arguments.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::json;
use serde_json::value::RawValue;
use toolwright::provider::ToolCall;
use toolwright::unstable::repair::{Repairer, TruncatedInput};
use toolwright::{Catalog, Repair};

/// Repairs the arguments of a call whose tool is unknown.
static ANY: LazyLock<Option<Repairer>> =
    LazyLock::new(|| Repairer::new(&json!({"type": "object"}), []).ok());

/// Parses the arguments, if they are a JSON object.
pub(in crate::http) fn object(arguments: &str) -> Option<&RawValue> {
    let raw: &RawValue = serde_json::from_str(arguments.trim()).ok()?;
    raw.get().starts_with('{').then_some(raw)
}

/// Returns the arguments of a call as a JSON object. Invalid arguments are repaired in the same way as a tool's input,
/// so that the model sees the arguments with which the tool ran. If the repair fails, returns `{}`; the answer to the
/// call says what was wrong.
pub(in crate::http) fn sendable<'a>(
    name: &str,
    arguments: &'a str,
    catalog: Option<&Catalog>,
) -> Cow<'a, str> {
    if object(arguments).is_some() {
        return Cow::Borrowed(arguments);
    }
    let of_tool = catalog.and_then(|it| it.get(name)).and_then(|definition| {
        let aliases = definition.parameters.iter().map(|it| (it.name.as_str(), it.aliases));
        let repairer = Repairer::new(&definition.input_schema, aliases).ok()?;
        read(&repairer.named(name), arguments)
    });
    let text = of_tool.or_else(|| read(ANY.as_ref()?, arguments));
    Cow::Owned(text.unwrap_or_else(|| "{}".to_owned()))
}

/// Repairs the arguments of a call in the history. A text that was cut short is completed, which is safe because the
/// completed text is only sent to the model, and no call runs with it.
fn read(repairer: &Repairer, arguments: &str) -> Option<String> {
    let read = repairer.repair(arguments, Repair::Standard, TruncatedInput::Completed).ok()?;
    object(&read.text).is_some().then_some(read.text)
}

/// Converts the arguments of a message's calls into JSON objects, because providers accept no others.
pub(super) fn sendable_calls<'a>(
    calls: Cow<'a, [ToolCall]>,
    catalog: Option<&Catalog>,
) -> Cow<'a, [ToolCall]> {
    if calls.iter().all(|call| object(&call.arguments).is_some()) {
        return calls;
    }
    let mut calls = calls.into_owned();
    for call in &mut calls {
        if let Cow::Owned(text) = sendable(&call.name, &call.arguments, catalog) {
            call.arguments = text;
        }
    }
    Cow::Owned(calls)
}
