//! Patterns that cannot be checked here: those that look around or back, or are no regular expressions of JSON Schema. Pure.

use serde_json::{Map, Value, json};
use toolwright::unstable::foreign::Checker;

use super::say;

/// Makes a sentence of a pattern that cannot be checked in bounded time. The server, whose pattern it is, checks it.
pub(super) fn leave_out_unchecked(schema: &mut Map<String, Value>) {
    let Some(Value::String(pattern)) = schema.get("pattern") else { return };
    if Checker::new(&json!({"pattern": pattern})).is_ok() {
        return;
    }
    let words = format!("It matches the regular expression `{pattern}`.");
    schema.remove("pattern");
    say(schema, &words);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_cannot_be_checked_is_a_sentence() {
        let of = |pattern: &str| {
            let Value::Object(mut schema) = json!({"type": "string", "pattern": pattern}) else {
                unreachable!("it is an object")
            };
            leave_out_unchecked(&mut schema);
            Value::Object(schema)
        };
        assert_eq!(of("^[a-z]+$"), json!({"type": "string", "pattern": "^[a-z]+$"}));
        for pattern in ["^(?!aws:).+$", "^.{1,99999999}$", "[a", r"\p{Graph}"] {
            let words = format!("It matches the regular expression `{pattern}`.");
            assert_eq!(of(pattern), json!({"type": "string", "description": words}));
        }
    }
}
