//! Explains why `rmcp` could not parse a request. The functions are pure.

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, ErrorCode};

/// The protocol revisions in which a method exists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Revisions {
    All,
    /// The revisions in which a session begins with `initialize`.
    WithSessions,
    /// The revisions from 2026-07-28 on, which have no sessions.
    WithoutSessions,
}

/// The methods that `rmcp` knows. If it cannot parse a request for one of them, the params are wrong.
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

/// Makes the error for a request that `rmcp` could not parse. A method that the request's revision does not have is
/// reported as unknown, whatever its params are.
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
            None => "found something other than an object".to_owned(),
        },
    };
    let words = format!(
        "the params of `{method}` are not those that the protocol describes ({found}): a field is missing, or has a value of another type; see the schema of the protocol"
    );
    ErrorData::invalid_params(words, None)
}
