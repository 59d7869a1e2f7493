//! Says of a request that fits nothing in the protocol what is wrong with it. Pure.

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, ErrorCode};

/// The methods whose params are read; a request of one of them that fits nothing has the wrong params.
const METHODS: [&str; 16] = [
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
    "tools/call",
    "tools/list",
];

/// The error of a request that the library reads as none of the protocol's.
pub(super) fn error(request: CustomRequest) -> ErrorData {
    let method = request.method;
    if !METHODS.contains(&&*method) {
        return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None);
    }
    let found = match request.params {
        None => "found none".to_owned(),
        Some(params) => match params.as_object() {
            Some(fields) => {
                let names: Vec<_> = fields.keys().map(|name| format!("`{name}`")).collect();
                format!("found {}", names.join(", "))
            }
            None => "found no object".to_owned(),
        },
    };
    let words = format!(
        "the params of `{method}` are not those that the protocol describes ({found}): a field is missing, or has a value of another type; see the schema of the protocol"
    );
    ErrorData::invalid_params(words, None)
}
