//! The reasoning that `OpenRouter` streams. Its blocks arrive in pieces but have to be sent back complete, because a
//! signature covers the whole text of a block.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub(super) struct ReasoningDetails(Vec<Map<String, Value>>);

impl ReasoningDetails {
    /// Adds the pieces of a chunk. Pieces that are not JSON objects are skipped.
    pub(super) fn push(&mut self, pieces: &RawValue) {
        let pieces: Option<Vec<Map<String, Value>>> = serde_json::from_str(pieces.get()).ok();
        for piece in pieces.into_iter().flatten() {
            match self.0.last_mut().filter(|block| is_more(block, &piece)) {
                Some(block) => grow(block, piece),
                None => self.0.push(piece),
            }
        }
    }

    /// Returns the reasoning blocks as JSON; `None` if there are none.
    pub(super) fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| serde_json::to_string(&self.0).ok())?
    }
}

/// Returns whether the piece continues the block.
fn is_more(block: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    let same = |key: &str| block.get(key) == piece.get(key);
    let kind = piece.get("type").and_then(Value::as_str);
    let is_text = matches!(kind, Some("reasoning.text" | "reasoning.summary"));
    is_text && same("type") && same("index") && piece.get("index").is_some_and(Value::is_u64)
}

fn grow(block: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (key, more) in piece {
        match (block.get_mut(&key), more) {
            (Some(Value::String(text)), Value::String(more))
                if matches!(key.as_str(), "text" | "summary") =>
            {
                text.push_str(&more);
            }
            // An empty value adds nothing to the block.
            (Some(_), Value::Null) => {}
            (Some(_), Value::String(more)) if more.is_empty() => {}
            (_, more) => {
                block.insert(key, more);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(chunks: &[Value]) -> Value {
        let mut details = ReasoningDetails::default();
        for chunk in chunks {
            details.push(&serde_json::value::to_raw_value(chunk).unwrap());
        }
        details.text().map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn a_signed_block_in_pieces_is_one_block() {
        let chunks = [
            json!([]),
            json!([{"type": "reasoning.text", "text": "", "signature": "", "format": "f", "index": 0}]),
            json!([{"type": "reasoning.text", "text": "Hm", "format": "f", "index": 0}]),
            json!([{"type": "reasoning.text", "text": ", yes.", "signature": null, "index": 0}]),
            json!([{"type": "reasoning.text", "signature": "sig==", "index": 0}]),
        ];
        let block = json!({"type": "reasoning.text", "text": "Hm, yes.", "signature": "sig==", "format": "f", "index": 0});
        assert_eq!(of(&chunks), json!([block]));
    }

    #[test]
    fn blocks_of_another_place_or_kind_and_encrypted_ones_stay_apart() {
        let text = |index: u8| json!({"type": "reasoning.text", "text": "a", "index": index});
        let summary = json!({"type": "reasoning.summary", "summary": "a", "index": 1});
        let hidden = json!({"type": "reasoning.encrypted", "data": "x", "index": 1});
        let whole = json!({"type": "reasoning.text", "text": "a"});
        let all = [text(0), text(1), summary, hidden.clone(), hidden, whole.clone(), whole];
        assert_eq!(of(&all.each_ref().map(|it| json!([it]))), json!(all));
        assert_eq!(of(&[json!("a"), json!([1]), json!(null)]), Value::Null);
    }
}
