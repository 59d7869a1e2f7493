//! Says of a request that fits nothing in the protocol what is wrong with it. Pure.

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, ErrorCode};

/// Which revisions have a method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Revisions {
    All,
    /// Those that begin with `initialize`.
    WithSessions,
    /// From 2026-07-28 on.
    WithoutSessions,
}

/// The methods whose params are read; a request of one of them that fits nothing has the wrong params.
const METHODS: [(&str, Revisions); 16] = [
    ("completion/complete", Revisions::All),
    ("initialize", Revisions::WithSessions),
    ("logging/setLevel", Revisions::WithSessions),
    ("prompts/get", Revisions::All),
    ("prompts/list", Revisions::All),
    ("resources/list", Revisions::All),
    ("resources/read", Revisions::All),
    ("resources/subscribe", Revisions::WithSessions),
    ("resources/templates/list", Revisions::All),
    ("resources/unsubscribe", Revisions::WithSessions),
    ("subscriptions/listen", Revisions::WithoutSessions),
    ("tasks/cancel", Revisions::All),
    ("tasks/get", Revisions::All),
    ("tasks/update", Revisions::All),
    ("tools/call", Revisions::All),
    ("tools/list", Revisions::All),
];

/// The error of a request that the library reads as none of the protocol's. A method that the revision of the request does not
/// have is unknown there, whatever its params are.
pub(super) fn error(request: CustomRequest, has_sessions: bool) -> ErrorData {
    let method = request.method;
    let of_revision = match has_sessions {
        true => Revisions::WithSessions,
        false => Revisions::WithoutSessions,
    };
    let is_known = METHODS.iter().any(|(name, revisions)| {
        *name == method && (*revisions == Revisions::All || *revisions == of_revision)
    });
    if !is_known {
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
