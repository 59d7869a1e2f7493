//! Reads the JSON value of a tool's answer.

use serde_json::{Deserializer, Value};
use toolwright::Answer;

/// Returns the JSON with which the text of an answer begins; null if the text begins otherwise. More text may follow:
/// in a fork of a run, a note about the original run is appended to a copied answer.
pub(crate) fn json_of(answer: &Answer) -> Value {
    let text = answer.text();
    let first = Deserializer::from_str(&text).into_iter::<Value>().next();
    first.and_then(Result::ok).unwrap_or_default()
}
