//! Handles regular expressions that this crate cannot check, such as those with lookaround or backreferences, those
//! that are too large, and those that are not valid in JSON Schema. The functions are pure.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value, json};
use toolwright::unstable::foreign::{Checker, TypeNames, input_schema};

use super::say;

/// A cache of which patterns of a document can be checked. Each pattern is compiled once, however many operations use
/// it.
#[derive(Debug, Default)]
pub(crate) struct Patterns(Mutex<HashMap<String, bool>>);

impl Patterns {
    /// Replaces a pattern that cannot be checked in bounded time with a sentence in the description. The server checks
    /// its own patterns anyway.
    pub(super) fn leave_out_unchecked(&self, schema: &mut Map<String, Value>) {
        let Some(Value::String(pattern)) = schema.get("pattern") else { return };
        if self.can_be_checked(pattern) {
            return;
        }
        let words = format!("It matches the regular expression `{pattern}`.");
        schema.remove("pattern");
        say(schema, &words);
    }

    fn can_be_checked(&self, pattern: &str) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(pattern) {
            return *known;
        }
        // Two compilers are used, each with its own limit for the size of a pattern, so try both.
        let whole =
            json!({"type": "object", "properties": {"it": {"type": "string", "pattern": pattern}}});
        let can = Checker::new(&whole).is_ok() && input_schema(&whole, TypeNames::Foreign).is_ok();
        known.insert(pattern.to_owned(), can);
        can
    }
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
            Patterns::default().leave_out_unchecked(&mut schema);
            Value::Object(schema)
        };
        assert_eq!(of("^[a-z]+$"), json!({"type": "string", "pattern": "^[a-z]+$"}));
        for pattern in ["^(?!aws:).+$", "^.{1,99999999}$", "[a", r"\p{Graph}"] {
            let words = format!("It matches the regular expression `{pattern}`.");
            assert_eq!(of(pattern), json!({"type": "string", "description": words}));
        }
    }
}
