//! Reads the JSON value of a tool's answer.

use serde_json::{Deserializer, Value};
use toolwright::Answer;

/// Returns the JSON value at the beginning of an answer's text; null if the text does not begin with JSON. In a fork,
/// words follow the JSON.
pub(crate) fn json_of(answer: &Answer) -> Value {
    let text = answer.text();
    let first = Deserializer::from_str(&text).into_iter::<Value>().next();
    first.and_then(Result::ok).unwrap_or_default()
}
