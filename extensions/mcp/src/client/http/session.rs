//! Decides from an HTTP answer whether the server knows the session of the request. The functions are pure.
//!
//! A restarted server does not know its earlier sessions. It reports this with 404, as the protocol demands and `rmcp`
//! understands, or with 400 or 422 and a text, as many servers do. Only such an answer proves that the server has not
//! worked on the request.

use rmcp::model::{ErrorCode, JsonRpcError, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{StreamableHttpError, StreamableHttpPostResponse};

pub(super) type Failure = StreamableHttpError<reqwest::Error>;

/// Phrases with which servers say that they do not know the session, or that no session has begun.
const UNKNOWN: [&str; 11] = [
    "expired session",
    "initialize request",
    "invalid session",
    "mcp-session-id",
    "missing session id",
    "no such session",
    "no valid session",
    "server not initialized",
    "session does not exist",
    "session has been terminated",
    "session not found",
];

/// The error codes with which servers refuse a request before any work on it. An internal error (`-32603`) may come
/// from a call that has begun.
const CODES: [ErrorCode; 3] = [ErrorCode(-32_000), ErrorCode(-32_001), ErrorCode(-32_600)];

/// The HTTP statuses of such refusals. With another status, such as 200, 500 or 502, the server may have worked on the
/// request, whatever the text says.
const STATUSES: [u16; 3] = [400, 404, 422];

/// Returns the answer to a request, given its HTTP status. An HTTP answer always belongs to the request that it
/// answers, even if an error in it names another id.
pub(super) fn read(
    answer: Result<StreamableHttpPostResponse, Failure>,
    status: Option<u16>,
    request: &RequestId,
) -> Result<StreamableHttpPostResponse, Failure> {
    let is_refused = status.is_some_and(|status| STATUSES.contains(&status));
    match answer {
        Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), session)) => {
            match is_refused && is_of_session(&error, request) {
                true => Err(StreamableHttpError::SessionExpired),
                false => {
                    let answer = ServerJsonRpcMessage::error(error.error, Some(request.clone()));
                    Ok(StreamableHttpPostResponse::Json(answer, session))
                }
            }
        }
        Err(StreamableHttpError::UnexpectedServerResponse(words))
            if is_refused && is_unknown(&words) =>
        {
            Err(StreamableHttpError::SessionExpired)
        }
        answer => answer,
    }
}

/// Reports whether an error is about the session and not about the request: the error has another id than the request,
/// or rejects the revision.
fn is_of_session(error: &JsonRpcError, request: &RequestId) -> bool {
    let is_ours = error.id.as_ref() == Some(request);
    error.error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        || (!is_ours && CODES.contains(&error.error.code) && is_unknown(&error.error.message))
}

fn is_unknown(words: &str) -> bool {
    let words = words.to_lowercase();
    UNKNOWN.iter().any(|unknown| words.contains(unknown))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Reads an error with this id, code and message that answers the request 7 with status 400.
    fn answered(id: Value, code: i32, message: &str) -> Result<Value, String> {
        answered_with(Some(400), id, code, message)
    }

    fn answered_with(
        status: Option<u16>,
        id: Value,
        code: i32,
        message: &str,
    ) -> Result<Value, String> {
        let error =
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
        let error: ServerJsonRpcMessage = serde_json::from_value(error).unwrap();
        let answer = Ok(StreamableHttpPostResponse::Json(error, None));
        match read(answer, status, &RequestId::Number(7)) {
            Ok(StreamableHttpPostResponse::Json(answer, _)) => {
                Ok(serde_json::to_value(answer).unwrap())
            }
            Ok(other) => Err(format!("{other:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn an_answer_is_about_the_session_only_where_it_says_so() {
        for (id, code, message) in [
            (Value::Null, -32_000, "Bad Request: No valid session ID provided"),
            (json!("server-error"), -32_600, "Bad Request: Missing session ID"),
            (Value::Null, -32_000, "Bad Request: Server not initialized"),
            (json!(7), -32_022, "Unsupported protocol version"),
        ] {
            let error = answered(id, code, message).unwrap_err();
            assert!(error.starts_with("Session expired"), "{message}: {error}");
        }
    }

    /// Errors that are not about the session: the server does not know the method, or the tool's error contains one of
    /// the phrases. The call ends with the error.
    #[test]
    fn every_other_error_answers_its_request_whatever_its_id() {
        for (id, code, message) in [
            (Value::Null, -32_601, "Method not found"),
            (json!("server-error"), -32_600, "Bad Request"),
            (json!(7), -32_601, "Method not found"),
            (json!(7), -32_000, "the session id of the browser is gone"),
            (Value::Null, -32_603, "mailer not initialized"),
            (Value::Null, -32_000, "mailer not initialized"),
            (Value::Null, -32_603, "session not found"),
        ] {
            let answer = answered(id, code, message).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(code)));
        }
    }

    #[test]
    fn a_plain_refusal_proves_nothing_without_words() {
        let plain = |status: u16, words: &'static str| {
            let answer = Err(StreamableHttpError::UnexpectedServerResponse(words.into()));
            read(answer, Some(status), &RequestId::Number(7)).unwrap_err().to_string()
        };
        let words = "HTTP 400 Bad Request: session not found";
        assert!(plain(400, words).starts_with("Session expired"));
        for (status, words) in
            [(400, "HTTP 400 Bad Request: "), (500, "HTTP 500 …: session not found")]
        {
            assert!(plain(status, words).contains(words), "{words}");
        }
    }

    /// A gateway whose server has died sends such an answer to a call that has begun.
    #[test]
    fn an_error_without_the_status_of_a_refusal_proves_nothing() {
        let words = "No valid session ID provided";
        for status in [None, Some(200), Some(409), Some(500), Some(502), Some(503), Some(504)] {
            let answer = answered_with(status, Value::Null, -32_000, words).unwrap();
            assert_eq!(answer["error"]["message"], words, "{status:?}");
        }
        for status in STATUSES {
            assert!(answered_with(Some(status), Value::Null, -32_000, words).is_err(), "{status}");
        }
    }
}
