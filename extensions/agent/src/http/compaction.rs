//! Compaction of a history by the provider's own server: the setting that enables it in a request, and the messages
//! that the server does not read again. The functions are pure.

use std::borrow::Cow;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolwright::provider::Provider;

use super::HttpModelError;
use crate::history::Message;

/// The member of a request's body that lets the server compact.
pub(super) const MEMBER: &str = "context_management";

/// The header that names the preview features which a request to Anthropic uses, and the name of this feature.
const BETA: HeaderName = HeaderName::from_static("anthropic-beta");
const BETA_NAME: &str = "compact-2026-01-12";

/// Returns the setting by which a request lets the server compact a history that has more tokens than this.
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

/// Adds the name of the feature to Anthropic's header of preview features, after the names that the application has set
/// in this header.
pub(super) fn add_header(provider: Provider, headers: &mut HeaderMap) {
    if provider != Provider::Anthropic {
        return;
    }
    let own = headers.get(BETA).and_then(|it| it.to_str().ok());
    let both = own.map(|own| format!("{own},{BETA_NAME}"));
    let value = both.and_then(|both| HeaderValue::from_str(&both).ok());
    headers.insert(BETA, value.unwrap_or(HeaderValue::from_static(BETA_NAME)));
}

/// Returns the index of the first message that a server reads: the newest answer of the model that contains a
/// compaction. Returns 0 if no answer contains one.
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
    // Most contents have no compaction, and a search of the text shows this without parsing it.
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

/// Removes the blocks of compactions from a content. The API refuses these blocks in a request that does not enable
/// compaction. Such a request contains the whole history, so nothing is lost.
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
