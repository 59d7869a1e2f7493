//! Why an attempt failed, and what that says about repeating it. Pure.

use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use toolwright::Class;
use toolwright::provider::StreamError;
use toolwright::retry::retry_after;

use crate::Usage;

/// How much of what a server said is shown.
const SHOWN: usize = 300;

/// How providers name an account that has nothing left.
const QUOTA_NAMES: [&str; 3] =
    ["insufficient_quota", "billing_hard_limit_reached", "billing_error"];

const QUOTA_SPENT: (&str, Class, &str) =
    ("quota_spent", Class::Final, "add to the account's quota or use another key");

type Source = Arc<dyn std::error::Error + Send + Sync>;

/// Why an attempt failed. The message says what came and what to do; who was asked is added where it is reported.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) kind: &'static str,
    pub(super) class: Class,
    pub(super) message: String,
    /// When the server wants to be asked again.
    pub(super) retry_after: Option<Duration>,
    pub(super) source: Option<Source>,
    /// What the answer took that had begun, where one had: nothing known where the provider does not say so.
    pub(super) taken: Option<Box<Option<Usage>>>,
}

impl Fault {
    pub(super) fn new(kind: &'static str, class: Class, message: impl Into<String>) -> Self {
        Self { kind, class, message: message.into(), retry_after: None, source: None, taken: None }
    }

    /// A response of status 200 whose body is not what was asked for.
    pub(super) fn unexpected(body: &str, expected: &str, why: &dyn Display) -> Self {
        let found = if body.trim().is_empty() { "an empty body".to_owned() } else { shown(body) };
        let message = format!(
            "answered {found}, expected {expected} ({why}); check that the provider and the base URL belong together"
        );
        Self::new("invalid_response", Class::Final, message)
    }

    /// A response of another status than 200.
    pub(super) fn of_status(status: u16, retry_after: Option<Duration>, body: &str) -> Self {
        let said = said(body);
        let (kind, class, advice) = judged(status, retry_after, body);
        let asks = match retry_after {
            Some(delay) => format!(" and asks to be left alone for {} s", delay.as_secs_f64()),
            None => String::new(),
        };
        let message = format!("answered status {status}{said}{asks}, expected 200; {advice}");
        Self { retry_after, ..Self::new(kind, class, message) }
    }

    /// An error that a provider reports in the middle of an answer.
    pub(super) fn reported(event: &str) -> Self {
        let event: Value = serde_json::from_str(event).unwrap_or_default();
        let mut error = event.get("error").cloned().unwrap_or(event);
        if error["type"] == "error"
            && let Some(members) = error.as_object_mut()
        {
            members.remove("type");
        }
        let name = ["code", "type"].iter().find_map(|key| error[key].as_str());
        let status = match (error["code"].as_u64(), name) {
            (Some(status @ 400..600), _) => status as u16,
            (_, Some("overloaded_error")) => 529,
            (_, Some("rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota")) => 429,
            (_, Some("billing_error")) => 402,
            (_, Some("authentication_error")) => 401,
            (_, Some("permission_error")) => 403,
            (_, Some("not_found_error")) => 404,
            (_, Some("request_too_large")) => 413,
            (_, Some("invalid_request_error" | "context_length_exceeded")) => 400,
            _ => 500,
        };
        let body = json!({"error": error}).to_string();
        let pause = pause_in(&body);
        let (kind, class, advice) = judged(status, pause, &body);
        let said = said(&body);
        let message = format!(
            "reported an error in the middle of its answer{said}, expected the rest of it; {advice}"
        );
        Self { retry_after: pause, ..Self::new(kind, class, message) }
    }

    /// An answer that came in pieces, of which no whole one could be made.
    pub(super) fn of_stream(error: StreamError) -> Self {
        let fault = match &error {
            StreamError::Cut { complete, .. } => {
                let message = format!(
                    "broke its answer off, of which {} calls were complete, expected the end of it; ask again",
                    complete.len()
                );
                Self::new("answer_cut", Class::Transient, message)
            }
            StreamError::NotJson(_) | StreamError::NotUtf8(_) => {
                let message =
                    format!("sent a piece of its answer that was damaged ({error}); ask again");
                Self::new("answer_damaged", Class::Transient, message)
            }
            error => {
                let message = format!(
                    "sent an answer in pieces that make none ({error}); check that the provider and the base URL belong together"
                );
                Self::new("invalid_response", Class::Final, message)
            }
        };
        fault.caused_by(error)
    }

    /// An answer had begun, and took this.
    pub(super) fn after_begin(self, usage: Option<Usage>) -> Self {
        Self { taken: Some(Box::new(usage)), ..self }
    }

    pub(super) fn caused_by(
        mut self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        self.source = Some(Arc::new(source));
        self
    }
}

/// What a status and the words with it mean: kind, class and advice.
fn judged(
    status: u16,
    retry_after: Option<Duration>,
    body: &str,
) -> (&'static str, Class, &'static str) {
    let not_started = Class::NotStarted { retry_after };
    match status {
        402 => QUOTA_SPENT,
        400 | 403 | 429 if is_quota(body) => QUOTA_SPENT,
        429 => ("rate_limited", not_started, "ask again later, or ask less often"),
        529 => ("overloaded", not_started, "ask again later, or ask another model"),
        503 => ("unavailable", not_started, "ask again later"),
        408 | 409 | 425 | 500.. => ("server_error", Class::Transient, "ask again later"),
        401 | 403 => ("wrong_key", Class::Final, "check the key"),
        404 => ("not_found", Class::Final, "check the base URL and the model's name"),
        400 | 413 if is_too_long(body) => (
            "context_too_long",
            Class::Final,
            "begin a new run, let tools answer less, or ask a model with a larger context",
        ),
        400 if is_wrong_key(body) => ("wrong_key", Class::Final, "check the key"),
        413 => ("request_too_large", Class::Final, "let tools answer less, or begin a new run"),
        300..=399 => (
            "redirected",
            Class::Final,
            "set the base URL to where it leads; a key is not sent to another place",
        ),
        _ => ("invalid_request", Class::Final, "change what it objects to"),
    }
}

/// How long a server asks to be left alone: the vendors' own header in milliseconds, else the one of HTTP.
pub(super) fn wanted_pause(
    milliseconds: Option<&str>,
    header: Option<&str>,
    now: SystemTime,
) -> Option<Duration> {
    let milliseconds = milliseconds.and_then(|it| it.trim().parse().ok());
    let fraction = |it: &str| Duration::try_from_secs_f64(it.trim().parse().ok()?).ok();
    milliseconds
        .map(Duration::from_millis)
        .or_else(|| header.and_then(|it| retry_after(it, now).or_else(|| fraction(it))))
}

/// What a provider said in its error, in brackets.
fn said(body: &str) -> String {
    let error = serde_json::from_str::<Value>(body).ok();
    let error = error.as_ref().map(|it| &it["error"]);
    let text = |key: &str| error.and_then(|it| it[key].as_str()).filter(|it| !it.is_empty());
    let kind = text("type").or_else(|| text("code")).or_else(|| text("status"));
    match (kind, text("message")) {
        (Some(kind), Some(message)) => format!(" ({kind}: {})", cut(message)),
        (None, Some(words)) | (Some(words), None) => format!(" ({})", cut(words)),
        (None, None) if body.trim().is_empty() => String::new(),
        (None, None) => format!(" ({})", cut(body.trim())),
    }
}

/// Whether the account has nothing left, by the words of each provider: Anthropic answers 400 or 402, `OpenAI` 429 or 400.
fn is_quota(body: &str) -> bool {
    let error = serde_json::from_str::<Value>(body).unwrap_or_default();
    let names = ["type", "code"].map(|key| error["error"][key].as_str().unwrap_or_default());
    let message = error["error"]["message"].as_str().unwrap_or_default();
    names.iter().any(|name| QUOTA_NAMES.contains(name))
        || message.starts_with("Your credit balance is too low")
}

/// Whether a request has more tokens than the model reads, by the words of each provider: only `OpenAI` has a code for it.
fn is_too_long(body: &str) -> bool {
    let error = serde_json::from_str::<Value>(body).unwrap_or_default();
    let message = error["error"]["message"].as_str().unwrap_or_default();
    let is_of_gemini = message.contains("exceeds the maximum number of tokens");
    error["error"]["code"] == "context_length_exceeded"
        || message.starts_with("prompt is too long")
        || is_of_gemini
}

/// Gemini answers 400 to a wrong key, and gives the reason in the details.
fn is_wrong_key(body: &str) -> bool {
    let error = serde_json::from_str::<Value>(body).unwrap_or_default();
    let details = error["error"]["details"].as_array();
    details.into_iter().flatten().any(|it| it["reason"] == "API_KEY_INVALID")
}

/// The pause that Gemini asks for in its error, such as `37s` or `1.5s`.
pub(super) fn pause_in(body: &str) -> Option<Duration> {
    let error = serde_json::from_str::<Value>(body).ok()?;
    let details = error["error"]["details"].as_array()?;
    let delay = details.iter().find_map(|it| it["retryDelay"].as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

fn shown(body: &str) -> String {
    format!("`{}`", cut(body.trim()))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
