//! Numbers with a fraction as they were written: serde_json alone reads about a third of them a little off.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use crate::journal::CallRecord;

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    answer: Option<Answer<'a>>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    whole: &'a RawValue,
}

/// Puts the numbers of an answer right that was read from this body.
pub fn restore(record: &mut CallRecord, body: &str) {
    let Some(answer) = record.answer.as_mut().filter(|answer| has_fraction(&answer.whole)) else {
        return;
    };
    if let Ok(Body { answer: Some(text) }) = serde_json::from_str(body) {
        mend(&mut answer.whole, text.whole);
    }
}

fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_fraction),
        Value::Object(members) => members.values().any(has_fraction),
        _ => false,
    }
}

fn mend(value: &mut Value, text: &RawValue) {
    if !has_fraction(value) {
        return;
    }
    match value {
        Value::Number(number) => {
            let exact = text.get().parse().ok();
            if let Some(right) = exact.filter(|exact| number.as_f64() != Some(*exact)) {
                *number = Number::from_f64(right).unwrap_or_else(|| number.clone());
            }
        }
        Value::Array(items) => {
            let texts: Vec<&RawValue> = serde_json::from_str(text.get()).unwrap_or_default();
            items.iter_mut().zip(texts).for_each(|(item, text)| mend(item, text));
        }
        Value::Object(members) => {
            let texts: HashMap<String, &RawValue> =
                serde_json::from_str(text.get()).unwrap_or_default();
            for (key, member) in members {
                if let Some(text) = texts.get(key) {
                    mend(member, text);
                }
            }
        }
        _ => {}
    }
}
