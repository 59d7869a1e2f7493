//! Finds content that only one provider can read and that requests to other providers omit: signatures, reasoning,
//! results of provider tools.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use toolwright::provider::Provider;

use crate::history::Message;

/// The content that a request omitted from one message, because a model of another provider wrote this content. The
/// message's text and calls are in the request.
///
/// ```
/// use toolwright_agent::{Omitted, Message, ModelAnswer, Verbatim};
///
/// let thought = r#"[{"type":"thinking","thinking":"…","signature":"…"},{"type":"text","text":"Hello."}]"#;
/// let verbatim = Verbatim::new("anthropic", thought);
/// let history = [Message::user("Hello!"), Message::assistant("Hello.", []).verbatim(verbatim)];
///
/// let omitted = Omitted::of(&history, "gemini");
/// assert_eq!(omitted[0].to_string(), "message 1 without thinking of anthropic");
/// assert!(Omitted::of(&history, "anthropic").is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Omitted {
    /// The index of the message in the history, counted from 0.
    pub message: usize,
    /// The provider that wrote the content.
    pub provider: String,
    /// The provider's names of the omitted parts, each once.
    pub parts: Vec<String>,
}

impl Omitted {
    /// Lists the content that a request to a model of this [`origin`](crate::Model::origin) omits.
    #[must_use]
    pub fn of(history: &[Message], origin: &str) -> Vec<Self> {
        let found = history.iter().enumerate().filter_map(|(message, it)| {
            let Message::Assistant { verbatim: Some(verbatim), .. } = it else { return None };
            if verbatim.provider() == origin {
                return None;
            }
            let parts = foreign(verbatim.provider(), verbatim.text());
            let provider = verbatim.provider().to_owned();
            (!parts.is_empty()).then_some(Self { message, provider, parts })
        });
        found.collect()
    }
}

impl fmt::Display for Omitted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, parts) = (self.message, self.parts.join(", "));
        write!(formatter, "message {message} without {parts} of {}", self.provider)
    }
}

/// Lists the kinds of content in an answer besides its text and calls.
fn foreign(origin: &str, text: &str) -> Vec<String> {
    // Content in an unknown form counts as one omitted part.
    let unread = || vec!["verbatim".to_owned()];
    let provider = origin.split('@').next().unwrap_or_default();
    if provider == Provider::OpenAiChat.name() {
        let members = serde_json::from_str::<serde_json::Map<String, Value>>(text);
        return members
            .map_or_else(|_| unread(), |members| members.into_iter().map(|it| it.0).collect());
    }
    let Ok(blocks) = serde_json::from_str::<Vec<Value>>(text) else {
        // Some servers that imitate Anthropic write a text instead of blocks.
        return match serde_json::from_str::<String>(text) {
            Ok(_) => Vec::new(),
            Err(_) => unread(),
        };
    };
    let known: &[&str] = if provider == Provider::Anthropic.name() {
        &["text", "tool_use"]
    } else if provider == Provider::OpenAiResponses.name() {
        &["message", "function_call"]
    } else if provider == Provider::Gemini.name() {
        return distinct(blocks.iter().flat_map(of_gemini));
    } else {
        return unread();
    };
    let kinds = blocks.iter().filter_map(|block| block["type"].as_str());
    distinct(kinds.filter(|kind| !known.contains(kind)).map(str::to_owned))
}

/// Lists the kinds of content in a Gemini part, whose keys name its kind.
fn of_gemini(part: &Value) -> Vec<String> {
    let keys = part.as_object().into_iter().flat_map(|part| part.keys());
    let is_thought = part["thought"] == true;
    let is_foreign = |key: &&String| match key.as_str() {
        "functionCall" => false,
        "text" | "thought" => is_thought && key.as_str() == "thought",
        _ => true,
    };
    keys.filter(is_foreign).cloned().collect()
}

fn distinct(kinds: impl Iterator<Item = String>) -> Vec<String> {
    let mut found = Vec::new();
    for kind in kinds {
        if !found.contains(&kind) {
            found.push(kind);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Verbatim;

    fn parts(provider: &str, text: &str) -> Vec<String> {
        let verbatim = Verbatim::new(provider, text);
        let history = [Message::user("Go."), Message::assistant("", []).verbatim(verbatim)];
        let found = Omitted::of(&history, "mine");
        assert!(found.iter().all(|it| (it.message, it.provider.as_str()) == (1, provider)));
        found.into_iter().flat_map(|it| it.parts).collect()
    }

    #[test]
    fn what_another_provider_signed_reasoned_or_ran_is_named_as_it_calls_it() {
        let anthropic = r#"[{"type":"thinking","thinking":"a","signature":"s"},{"type":"thinking"},
            {"type":"server_tool_use"},{"type":"text","text":"b"},{"type":"tool_use"}]"#;
        assert_eq!(parts("anthropic", anthropic), ["thinking", "server_tool_use"]);
        let openai = r#"[{"type":"reasoning","encrypted_content":"x"},{"type":"message"},
            {"type":"function_call"},{"type":"web_search_call"}]"#;
        assert_eq!(parts("openai-responses", openai), ["reasoning", "web_search_call"]);
        let gemini = r#"[{"text":"a","thought":true},{"text":"b","thoughtSignature":"s"},
            {"functionCall":{"name":"add"}},{"executableCode":{}}]"#;
        assert_eq!(parts("gemini", gemini), ["thought", "thoughtSignature", "executableCode"]);
        assert_eq!(
            parts("openai-chat@deep.example", r#"{"reasoning_content":"Hm."}"#),
            ["reasoning_content"]
        );
        assert_eq!(parts("anthropic@gate.example", r#"[{"type":"thinking"}]"#), ["thinking"]);
        assert_eq!(parts("somebody-else", "[]"), ["verbatim"]);
        assert_eq!(parts("anthropic", "{"), ["verbatim"]);
    }

    #[test]
    fn text_and_calls_alone_lose_nothing() {
        assert!(
            parts("anthropic", r#"[{"type":"text","text":"b"},{"type":"tool_use"}]"#).is_empty()
        );
        assert!(parts("anthropic", r#""Hello.""#).is_empty());
        assert!(parts("openai-responses", r#"[{"type":"message"}]"#).is_empty());
        assert!(
            parts("gemini", r#"[{"text":"b","thought":false},{"functionCall":{}}]"#).is_empty()
        );
    }
}
