//! The value that a tool has answered with.

use serde_json::{Deserializer, Value};
use toolwright::Answer;

/// The JSON with which the text of an answer begins; null where it begins otherwise. A fork adds words behind it.
pub(crate) fn json_of(answer: &Answer) -> Value {
    let text = answer.text();
    let first = Deserializer::from_str(&text).into_iter::<Value>().next();
    first.and_then(Result::ok).unwrap_or_default()
}
