//! Faults: why an attempt failed, and whether it may be retried. The functions are pure.

mod body;

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use toolwright::ErrorClass;
use toolwright::provider::StreamError;
use toolwright::retry::retry_after;

pub(super) use self::body::pause_in;
use self::body::{ErrorBody, cut};
use crate::limits::Usage;
use crate::model::ContextSize;

type Source = Arc<dyn std::error::Error + Send + Sync>;

/// A failure of an attempt. The message says what happened and what to do. The provider's name is added when the fault
/// is reported.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) kind: &'static str,
    pub(super) class: ErrorClass,
    pub(super) message: String,
    /// The pause that the server asks for before the next request.
    pub(super) retry_after: Option<Duration>,
    /// The size of a request that is too long for the model.
    pub(super) too_long: Option<Box<ContextSize>>,
    pub(super) source: Option<Source>,
    pub(super) taken: FaultUsage,
}

/// The tokens that a failed attempt has used, and their cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum FaultUsage {
    /// No usage, because no answer had begun.
    #[default]
    Nothing,
    /// The usage that the meter has counted so far, because the answer broke off.
    SoFar,
    /// The usage of a complete answer that could not be used.
    Whole(Box<Usage>),
}

impl Fault {
    pub(super) fn new(kind: &'static str, class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            kind,
            class,
            message: message.into(),
            retry_after: None,
            too_long: None,
            source: None,
            taken: FaultUsage::Nothing,
        }
    }

    /// Makes the fault of a response with status 200 and an unexpected body.
    pub(super) fn unexpected(body: &str, expected: &str, why: &dyn Display) -> Self {
        let read: Value = serde_json::from_str(body).unwrap_or_default();
        if let Some((error, status)) = read.get("error").and_then(|it| Some((it, status_in(it)?))) {
            let came = "answered an error with status 200";
            return Self::of_error(status, error, came, expected);
        }
        let found = if body.trim().is_empty() { "an empty body".to_owned() } else { shown(body) };
        let why = cut(&why.to_string());
        let message = format!(
            "answered {found}, expected {expected} ({why}); check that the provider and the base URL belong together"
        );
        Self::new("invalid_response", ErrorClass::Final, message)
    }

    /// Makes the fault of a response with another status than 200.
    pub(super) fn of_status(status: u16, retry_after: Option<Duration>, body: &str) -> Self {
        let body = ErrorBody::of(body);
        let said = body.said();
        let Judgement { kind, class, advice, too_long } = judged(status, retry_after, &body);
        let asks = match retry_after {
            Some(delay) => format!(" and asks to be left alone for {} s", delay.as_secs_f64()),
            None => String::new(),
        };
        let message = format!("answered status {status}{said}{asks}, expected 200; {advice}");
        Self { retry_after, too_long, ..Self::new(kind, class, message) }
    }

    /// Makes the fault of an error that a provider reports in the middle of an answer.
    pub(super) fn reported(event: &str) -> Self {
        let event: Value = serde_json::from_str(event).unwrap_or_default();
        let mut error = event.get("error").cloned().unwrap_or(event);
        if error["type"] == "error"
            && let Some(members) = error.as_object_mut()
        {
            members.remove("type");
        }
        let came = "reported an error in the middle of its answer";
        Self::of_error(status_in(&error).unwrap_or(500), &error, came, "the rest of it")
    }

    /// Makes the fault of a response of `OpenAI` that reports a failure in its body.
    pub(super) fn of_failed_response(code: &str, message: &str) -> Self {
        // An unknown code would probably fail again, so it counts as an invalid request.
        let status = if code == "server_error" { 500 } else { status_of(code).unwrap_or(400) };
        let error = json!({"code": code, "message": message});
        Self::of_error(status, &error, "answered a response that failed", "a whole one")
    }

    /// Makes the fault of an answer that the server abandoned, with the error that it reports or only this reason.
    pub(super) fn of_abandoned(reason: &str, error: Option<&Value>) -> Self {
        let reason = json!({"type": reason});
        let error = error.unwrap_or(&reason);
        Self::of_error(status_in(error).unwrap_or(500), error, "abandoned its answer", "all of it")
    }

    /// Makes the fault of an error in the body of a response with status 200, as if the response had the status of the
    /// error.
    fn of_error(status: u16, error: &Value, came: &str, expected: &str) -> Self {
        let body = json!({"error": error}).to_string();
        let body = ErrorBody::of(&body);
        let (said, pause) = (body.said(), body.pause());
        let Judgement { kind, class, advice, too_long } = judged(status, pause, &body);
        let message = format!("{came}{said}, expected {expected}; {advice}");
        Self { retry_after: pause, too_long, ..Self::new(kind, class, message) }
    }

    /// Makes the fault of a stream from which no complete answer could be read.
    pub(super) fn of_stream(error: StreamError) -> Self {
        let why = cut(&error.to_string());
        let fault = match &error {
            StreamError::Cut { complete, .. } => {
                let message = format!(
                    "broke off its answer after {} complete calls, expected its end; ask again",
                    complete.len()
                );
                Self::new("answer_cut", ErrorClass::Transient, message)
            }
            StreamError::NotJson(_) | StreamError::NotUtf8(_) => {
                let message = format!("sent a damaged piece of its answer ({why}); ask again");
                Self::new("answer_damaged", ErrorClass::Transient, message)
            }
            _ => {
                let message = format!(
                    "sent a stream that is no answer ({why}); check that the provider and the base URL belong together"
                );
                Self::new("invalid_response", ErrorClass::Final, message)
            }
        };
        fault.caused_by(error)
    }

    /// Makes the fault of an answer that was not complete in the time that was left for it.
    pub(super) fn late_answer() -> Self {
        let message = "gave no whole answer in the time that was left for it; ask again, or give it more time";
        Self::new("no_response", ErrorClass::Transient, message).in_the_middle()
    }

    /// Makes the fault of a key that a command did not print in the time that was left for the request.
    pub(super) fn late_key() -> Self {
        let message = "cannot be asked: the command for the key did not end in the time that was left for the request; ask again, or give it more time";
        Self::new("no_key", ErrorClass::NotStarted { retry_after: None }, message)
    }

    /// Marks the fault as one of a complete answer that could not be used, with its usage if the provider reports it.
    pub(super) fn after_end(self, usage: Option<Usage>) -> Self {
        let taken = usage.map_or(FaultUsage::SoFar, |usage| FaultUsage::Whole(Box::new(usage)));
        Self { taken, ..self }
    }

    /// Marks the fault as one of an answer that broke off.
    pub(super) fn in_the_middle(self) -> Self {
        Self { taken: FaultUsage::SoFar, ..self }
    }

    pub(super) fn caused_by(
        mut self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        self.source = Some(Arc::new(source));
        self
    }
}

/// Returns the HTTP status of an error, by its `code` or its `type`; `None` if neither is known.
fn status_in(error: &Value) -> Option<u16> {
    let mut names = ["code", "type"].into_iter().filter_map(|key| error[key].as_str());
    match error["code"].as_u64() {
        Some(status @ 400..600) => Some(status as u16),
        _ => names.find_map(status_of),
    }
}

/// Returns the HTTP status that belongs to the name of an error; `None` if the name is not known.
fn status_of(name: &str) -> Option<u16> {
    Some(match name {
        "overloaded_error" => 529,
        "server_is_overloaded" | "slow_down" => 503,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => 429,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "invalid_request_error" | "context_length_exceeded" | "exceed_context_size_error" => 400,
        _ => return None,
    })
}

/// The meaning of a status and an error message for the request.
struct Judgement {
    kind: &'static str,
    class: ErrorClass,
    advice: Cow<'static, str>,
    too_long: Option<Box<ContextSize>>,
}

fn judged(status: u16, retry_after: Option<Duration>, body: &ErrorBody<'_>) -> Judgement {
    let not_started = ErrorClass::NotStarted { retry_after };
    if let (400 | 413 | 422 | 500, Some(size)) = (status, body.too_long()) {
        let advice = format!(
            "{size}; begin a new run, let tools answer less, or ask a model with a larger context"
        );
        let too_long = Some(Box::new(size));
        let (kind, class) = ("context_too_long", ErrorClass::Final);
        return Judgement { kind, class, advice: Cow::Owned(advice), too_long };
    }
    let (kind, class, advice) = match status {
        400 | 402 | 403 | 429 if status == 402 || body.is_quota() => {
            ("quota_spent", ErrorClass::Final, "add to the account's quota or use another key")
        }
        429 => ("rate_limited", not_started, "ask again later, or ask less often"),
        529 => ("overloaded", not_started, "ask again later, or ask another model"),
        503 => ("unavailable", not_started, "ask again later"),
        408 | 409 | 425 | 500.. => ("server_error", ErrorClass::Transient, "ask again later"),
        401 | 403 => ("wrong_key", ErrorClass::Final, "check the key"),
        404 => ("not_found", ErrorClass::Final, "check the base URL and the model's name"),
        400 if body.is_wrong_key() => ("wrong_key", ErrorClass::Final, "check the key"),
        413 => {
            ("request_too_large", ErrorClass::Final, "let tools answer less, or begin a new run")
        }
        300..=399 => (
            "redirected",
            ErrorClass::Final,
            "set the base URL to where it leads; a key is not sent to another place",
        ),
        _ => ("invalid_request", ErrorClass::Final, "change what it objects to"),
    };
    Judgement { kind, class, advice: Cow::Borrowed(advice), too_long: None }
}

/// Returns the time by the server's clock if the response contains it, else `now`. A date in `retry-after` is a time by
/// the server's clock, and the clock of this machine may be wrong or change while a request waits.
pub(super) fn clock(date: Option<&str>, now: SystemTime) -> SystemTime {
    // `retry_after` returns the time from its second argument to a date, and so here the time from the epoch.
    date.and_then(|date| UNIX_EPOCH.checked_add(retry_after(date, UNIX_EPOCH)?)).unwrap_or(now)
}

/// Returns the pause that a server asks for: by the vendors' header in milliseconds, else by the standard header.
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

fn shown(body: &str) -> String {
    format!("`{}`", cut(body.trim()))
}

#[cfg(test)]
mod tests;
