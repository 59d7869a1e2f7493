//! The functions that every contestant calls, and the cheapest call by JSON text with serde.

use anyhow::{Result, bail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{FIND_TEXT, MEASURE_TEXT};

/// How much to show around a match.
#[derive(Deserialize, JsonSchema)]
pub struct Window {
    /// Lines before the match.
    pub before: u32,
    /// Lines after the match.
    pub after: u32,
    /// What to call the window in the answer.
    pub label: String,
}

#[derive(Serialize)]
pub struct Matches {
    pub pattern: String,
    pub folder: Option<String>,
    pub label: String,
    pub lines: usize,
    pub whole_words: bool,
}

#[derive(Deserialize, Serialize)]
pub struct TextSize {
    pub bytes: usize,
    pub empty: bool,
}

/// The body of the tool with five arguments. It only moves its arguments, so that only the call is measured. Each
/// contestant runs it in its own async function.
#[inline]
pub fn matches(
    pattern: String,
    limit: usize,
    folder: Option<String>,
    whole_words: bool,
    window: Window,
) -> Matches {
    let around = window.before + window.after + 1;
    Matches { pattern, folder, label: window.label, lines: limit * around as usize, whole_words }
}

/// The body of the tool with one argument.
#[inline]
pub fn size(text: &str) -> TextSize {
    TextSize { bytes: text.len(), empty: text.is_empty() }
}

async fn find_text(
    pattern: String,
    limit: usize,
    folder: Option<String>,
    whole_words: bool,
    window: Window,
) -> Matches {
    matches(pattern, limit, folder, whole_words, window)
}

async fn measure_text(text: String) -> TextSize {
    size(&text)
}

pub async fn call_find_text(text: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Input {
        pattern: String,
        limit: usize,
        folder: Option<String>,
        whole_words: bool,
        window: Window,
    }
    let input: Input = serde_json::from_str(text)?;
    let matches =
        find_text(input.pattern, input.limit, input.folder, input.whole_words, input.window);
    Ok(serde_json::to_string(&matches.await)?)
}

pub async fn call_measure_text(text: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Input {
        text: String,
    }
    let input: Input = serde_json::from_str(text)?;
    Ok(serde_json::to_string(&measure_text(input.text).await)?)
}

/// Returns the expected answer to this text.
pub fn expected(text: &str) -> Result<Value> {
    Ok(match text {
        FIND_TEXT => json!({
            "pattern": "fn main",
            "folder": "src/bin",
            "label": "around",
            "lines": 120,
            "whole_words": true,
        }),
        MEASURE_TEXT => json!({ "bytes": 43, "empty": false }),
        _ => bail!("no answer is known to {text}"),
    })
}
