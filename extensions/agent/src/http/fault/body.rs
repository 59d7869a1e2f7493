//! Reads the error of a provider from a response body in any of the known forms. The functions are pure.

use std::time::Duration;

use serde_json::Value;

use crate::model::ContextSize;

/// How many characters of a server's text an error shows.
const SHOWN: usize = 300;

/// The providers' names for the error that an account has no credit left.
const QUOTA_NAMES: [&str; 3] =
    ["insufficient_quota", "billing_hard_limit_reached", "billing_error"];

/// The error names of `OpenAI` and llama.cpp for a request that is too long. Other servers send only a message.
const TOO_LONG_NAMES: [&str; 2] = ["context_length_exceeded", "exceed_context_size_error"];

/// Phrases for a request that is too long, in the messages of Anthropic, of `OpenAI` and the servers that imitate it,
/// of Gemini, of llama.cpp, and of xAI.
const TOO_LONG: [&str; 6] = [
    "prompt is too long",
    "maximum prompt length",
    "maximum context length",
    "exceeds the context window",
    "exceeds the maximum number of tokens",
    "exceeds the available context size",
];

/// In the messages of these servers, one of these phrases precedes the number of tokens. One of `ALLOWED_AFTER`
/// precedes the limit.
const FOUND_AFTER: [&str; 6] = [
    "prompt is too long:",
    "resulted in ",
    "requested ",
    "token count (",
    "request (",
    "request contains ",
];
const ALLOWED_AFTER: [&str; 5] = [
    "tokens >",
    "maximum context length",
    "tokens allowed",
    "context size (",
    "maximum prompt length",
];

/// Anthropic's phrase for a request that is too long only together with its answer. Numbers follow the phrase, such as
/// `178959 + 64000 > 200000`.
const TOO_LONG_WITH_ANSWER: &str = "input length and `max_tokens` exceed context limit:";

pub(super) struct ErrorBody<'a> {
    error: Value,
    body: &'a str,
}

impl<'a> ErrorBody<'a> {
    /// Reads an error in one of these forms: `{"error":{…}}`, a list of such objects from Gemini, `{"error":"…"}`, or
    /// the error object alone.
    pub(super) fn of(body: &'a str) -> Self {
        let read: Value = serde_json::from_str(body).unwrap_or_default();
        let read = match read {
            Value::Array(mut list) if !list.is_empty() => list.swap_remove(0),
            read => read,
        };
        let error = match read.get("error") {
            Some(Value::String(message)) => serde_json::json!({"message": message}),
            Some(error) => error.clone(),
            None => read,
        };
        Self { error, body }
    }

    /// Returns the provider's own error message in brackets, or the beginning of the body if it has no such message.
    pub(super) fn said(&self) -> String {
        let text = |key: &str| self.error[key].as_str().filter(|it| !it.is_empty());
        let kind = text("type").or_else(|| text("code")).or_else(|| text("status"));
        match (kind, text("message")) {
            (Some(kind), Some(message)) => format!(" ({kind}: {})", cut(message)),
            (None, Some(words)) | (Some(words), None) => format!(" ({})", cut(words)),
            (None, None) if self.body.trim().is_empty() => String::new(),
            (None, None) => format!(" ({})", cut(self.body.trim())),
        }
    }

    /// Reports whether the account has no credit left, judged by each provider's names and phrases. Anthropic answers
    /// such a request with status 400 or 402, `OpenAI` with 429 or 400.
    pub(super) fn is_quota(&self) -> bool {
        self.is_named(&QUOTA_NAMES)
            || self.message().starts_with("Your credit balance is too low")
            || self.is_of_day()
    }

    /// Reports whether a daily quota of Gemini is used up, so that waiting for seconds does not help.
    fn is_of_day(&self) -> bool {
        let details = self.error["details"].as_array().into_iter().flatten();
        let mut violations =
            details.flat_map(|it| it["violations"].as_array().into_iter().flatten());
        violations.any(|it| it["quotaId"].as_str().is_some_and(|id| id.contains("PerDay")))
    }

    /// Reports whether the error says that the key is wrong. Gemini answers a wrong key with status 400, and gives the
    /// reason in the details.
    pub(super) fn is_wrong_key(&self) -> bool {
        let details = self.error["details"].as_array();
        details.into_iter().flatten().any(|it| it["reason"] == "API_KEY_INVALID")
    }

    /// Returns the size of a request that is too long for the model, found by each provider's phrases.
    pub(super) fn too_long(&self) -> Option<ContextSize> {
        let message = self.message();
        if let Some(rest) = message.strip_prefix(TOO_LONG_WITH_ANSWER) {
            let (sum, allowed) = rest.split_once('>')?;
            let parts = sum.split('+').map(first_number);
            let found = parts.reduce(|sum, part| sum?.checked_add(part?)).flatten();
            return Some(ContextSize::new(found, first_number(allowed)));
        }
        let is_too_long = TOO_LONG.iter().any(|words| message.contains(words));
        if !is_too_long && !self.is_named(&TOO_LONG_NAMES) {
            return None;
        }
        let behind = |all: &[&str]| all.iter().find_map(|words| number_after(message, words));
        let member = |key: &str| self.error[key].as_u64();
        Some(ContextSize::new(
            member("n_prompt_tokens").or_else(|| behind(&FOUND_AFTER)),
            member("n_ctx").or_else(|| behind(&ALLOWED_AFTER)),
        ))
    }

    /// Returns the pause that Gemini asks for, such as `37s` or `1.5s`.
    pub(super) fn pause(&self) -> Option<Duration> {
        let details = self.error["details"].as_array()?;
        let delay = details.iter().find_map(|it| it["retryDelay"].as_str())?;
        Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
    }

    fn message(&self) -> &str {
        self.error["message"].as_str().unwrap_or_default()
    }

    fn is_named(&self, names: &[&str]) -> bool {
        let found = ["type", "code"].map(|key| self.error[key].as_str().unwrap_or_default());
        found.iter().any(|name| names.contains(name))
    }
}

/// Returns the pause that a provider asks for in its error.
pub(in crate::http) fn pause_in(body: &str) -> Option<Duration> {
    ErrorBody::of(body).pause()
}

/// Shortens a long text that a server has sent.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the first number after this phrase in a text.
fn number_after(text: &str, words: &str) -> Option<u64> {
    first_number(text.split_once(words)?.1)
}

fn first_number(text: &str) -> Option<u64> {
    let digits = text.trim_start_matches(|it: char| !it.is_ascii_digit());
    let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_sum_give_no_size() {
        let body = |sum: &str| format!(r#"{{"message":"{TOO_LONG_WITH_ANSWER} {sum} > 200000"}}"#);
        let found = |sum: &str| ErrorBody::of(&body(sum)).too_long().expect("a size").found;
        assert_eq!(found("18446744073709551615 + 1"), None);
        assert_eq!(found("178959 + 64000"), Some(242_959));
    }
}
