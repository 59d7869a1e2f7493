//! Compaction of a history by the provider's own server: which setting requests have for it, and which messages the
//! server does not read again. Pure.

use std::borrow::Cow;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolwright::provider::Provider;

use super::HttpModelError;
use crate::history::Message;

/// The member of a request's body that enables compaction.
pub(super) const MEMBER: &str = "context_management";

/// The header that names the preview features which a request to Anthropic uses, and the name of this feature.
const BETA: HeaderName = HeaderName::from_static("anthropic-beta");
const BETA_NAME: &str = "compact-2026-01-12";

/// The member of a request's body that makes the server compact a history of more tokens than this.
pub(super) fn setting(provider: Provider, tokens: u64) -> Result<Value, HttpModelError> {
    let (least, setting) = match provider {
        Provider::Anthropic => {
            let trigger = json!({"type": "input_tokens", "value": tokens});
            let edit = json!({"type": "compact_20260112", "trigger": trigger});
            (50_000, json!({"edits": [edit]}))
        }
        Provider::OpenAiResponses => {
            (1_000, json!([{"type": "compaction", "compact_threshold": tokens}]))
        }
        provider => return Err(HttpModelError::NoCompaction { provider }),
    };
    match tokens < least {
        true => Err(HttpModelError::CompactAbove { provider, found: tokens, least }),
        false => Ok(setting),
    }
}

/// Adds the name of the feature to the header of Anthropic's API, beside the names that the application has set.
pub(super) fn add_header(provider: Provider, headers: &mut HeaderMap) {
    if provider != Provider::Anthropic {
        return;
    }
    let own = headers.get(BETA).and_then(|it| it.to_str().ok());
    let both = own.map(|own| format!("{own},{BETA_NAME}"));
    let value = both.and_then(|both| HeaderValue::from_str(&both).ok());
    headers.insert(BETA, value.unwrap_or(HeaderValue::from_static(BETA_NAME)));
}

/// Returns the index of the first message that a server reads: its newest answer that contains a compaction, or 0 if no
/// answer contains one.
pub(super) fn first_read(provider: Provider, history: &[Message], origin: &str) -> usize {
    history.iter().rposition(|message| has_compaction(provider, message, origin)).unwrap_or(0)
}

fn has_compaction(provider: Provider, message: &Message, origin: &str) -> bool {
    #[derive(Deserialize)]
    struct Part {
        r#type: Option<String>,
        content: Option<serde::de::IgnoredAny>,
        encrypted_content: Option<serde::de::IgnoredAny>,
    }
    let Message::Assistant { verbatim: Some(verbatim), .. } = message else { return false };
    // Most answers have none, which is seen without reading them.
    let Some(text) = verbatim.of(origin).filter(|text| text.contains("compaction")) else {
        return false;
    };
    let parts: Vec<Part> = serde_json::from_str(text).unwrap_or_default();
    let is_compaction = |part: &Part| {
        part.r#type.as_deref() == Some("compaction")
            && match provider {
                // A block without content means that the server could not compact.
                Provider::Anthropic => part.content.is_some(),
                _ => part.encrypted_content.is_some(),
            }
    };
    parts.iter().any(is_compaction)
}

/// Returns a content without the blocks of compactions, for a model whose requests do not enable compaction: without
/// the name of the feature the API refuses such blocks, and the model gets the whole history.
pub(super) fn without_compactions(content: Cow<'_, str>) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Block {
        r#type: Option<String>,
    }
    if !content.contains("compaction") {
        return content;
    }
    let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(&content) else { return content };
    let is_other = |block: &&&RawValue| {
        let read: Option<Block> = serde_json::from_str(block.get()).ok();
        read.and_then(|it| it.r#type).as_deref() != Some("compaction")
    };
    let left: Vec<&str> = blocks.iter().filter(is_other).map(|it| it.get()).collect();
    match left.len() == blocks.len() {
        true => content,
        false => Cow::Owned(format!("[{}]", left.join(","))),
    }
}
