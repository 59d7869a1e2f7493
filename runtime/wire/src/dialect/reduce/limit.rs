//! Reduces keywords that are a limit or a hint: sends them, or states them in the description.

use serde_json::{Map, Value};

use super::{Draft, Reducer};
use crate::dialect::node::Node;
use crate::dialect::{Dialect, words};

impl Reducer<'_, '_> {
    pub(super) fn limit(&mut self, draft: &mut Draft, keyword: &str, value: &Value) {
        let is_known = match keyword {
            // Anthropic's grammar only distinguishes empty lists from lists with items.
            "minItems" if self.dialect == Dialect::AnthropicStrict => {
                value.as_u64().is_some_and(|count| count <= 1)
            }
            "pattern" if !self.rules.looks_around => {
                self.rules.takes(keyword) && !value.as_str().is_some_and(looks_around)
            }
            _ => self.rules.takes(keyword),
        };
        self.send_or_tell(is_known, draft, keyword, value);
    }

    pub(super) fn format(&mut self, draft: &mut Draft, types: &[&str], value: &Value) {
        let known = match types.contains(&"string") {
            true => self.rules.formats,
            false => self.rules.number_formats,
        };
        let is_known =
            value.as_str().is_some_and(|format| known.is_none_or(|known| known.contains(&format)));
        self.send_or_tell(is_known, draft, "format", value);
    }

    fn send_or_tell(&mut self, is_known: bool, draft: &mut Draft, keyword: &str, value: &Value) {
        match keyword {
            _ if words::says_nothing(keyword, value) => {}
            "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties"
            | "maxProperties"
                if is_known && self.rules.google =>
            {
                draft.put(keyword, Node::text(value.to_string()));
            }
            _ if is_known => draft.put(keyword, Node::from_sorted(value)),
            _ => self.tell(draft, keyword, value),
        }
    }

    /// States the meaning of a keyword in the description, and reports that in a note.
    pub(super) fn tell(&mut self, draft: &mut Draft, keyword: &str, value: &Value) {
        if words::says_nothing(keyword, value) {
            return;
        }
        let sentence = words::sentence(keyword, value);
        self.note(keyword, &sentence);
        draft.sentences.push(sentence);
    }
}

/// Returns whether a regular expression has look-around or back-references. Engines with linear time do not support
/// these.
fn looks_around(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(place) = rest.find(['\\', '(']) {
        let (_, here) = rest.split_at(place);
        if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|it| here.starts_with(it)) {
            return true;
        }
        let mut characters = here.chars();
        if characters.next() == Some('\\') {
            match characters.next() {
                Some('1'..='9') => return true,
                Some('k') if characters.as_str().starts_with('<') => return true,
                _ => {}
            }
        }
        rest = characters.as_str();
    }
    false
}

/// Returns whether a limit is only that of a 64-bit or 128-bit type. Such a limit is useless to a model, and few JSON
/// readers read it exactly. The opposite limit helps to recognise the type: a maximum of `i64::MAX` next to a minimum
/// of 0 is not the limit of a type, but was chosen by an author.
pub(super) fn is_natural(object: &Map<String, Value>, keyword: &str) -> bool {
    const TWO_TO_127: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    let is = |keyword: &str, expected: f64| {
        object.get(keyword).is_some_and(|it| it.is_f64() && it.as_f64() == Some(expected))
    };
    let is_wide =
        ["exclusiveMaximum", "exclusiveMinimum"].iter().any(|it| object.contains_key(*it));
    let (minimum, maximum) = (object.get("minimum"), object.get("maximum"));
    let lowest = minimum.and_then(Value::as_i64);
    match keyword {
        "minimum" if is(keyword, -TWO_TO_127) => true,
        "minimum" => {
            lowest == Some(i64::MIN) && !is_wide && maximum.and_then(Value::as_i64).is_some()
        }
        "maximum" => match maximum.and_then(Value::as_u64) {
            Some(u64::MAX) => !is_wide && minimum.and_then(Value::as_u64).is_some(),
            Some(most) if i64::try_from(most) == Ok(i64::MAX) => {
                !is_wide && lowest.is_some_and(|least| least < 0)
            }
            _ => false,
        },
        "exclusiveMaximum" => {
            is(keyword, 2.0 * TWO_TO_127)
                || (is(keyword, TWO_TO_127) && minimum.and_then(Value::as_u64).is_none())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_looks_around_or_back_does_so() {
        for pattern in ["a(?=b)", "(?!a)", "(?<=a)b", "(?<!a)b", r"(a)\1", r"(?<n>a)\k<n>"] {
            assert!(looks_around(pattern), "{pattern}");
        }
        for pattern in ["(?:a)", "(?<name>a)", r"\\1", r"\(?=", r"\d+", "(?i)a"] {
            assert!(!looks_around(pattern), "{pattern}");
        }
    }

    #[test]
    fn a_limit_is_natural_beside_the_other_of_its_type() {
        let hidden = |limits: Value| {
            let limits = limits.as_object().unwrap();
            limits.keys().filter(|it| is_natural(limits, it)).count()
        };
        let two_to_128 = 2_f64.powi(128);
        assert_eq!(hidden(json!({"minimum": i64::MIN, "maximum": i64::MAX})), 2);
        assert_eq!(hidden(json!({"minimum": i64::MIN, "maximum": 9})), 1);
        assert_eq!(hidden(json!({"minimum": 0, "maximum": u64::MAX})), 1);
        assert_eq!(hidden(json!({"minimum": 3, "maximum": u64::MAX})), 1);
        assert_eq!(hidden(json!({"minimum": 0, "maximum": i64::MAX})), 0);
        assert_eq!(hidden(json!({"maximum": i64::MAX})), 0);
        assert_eq!(hidden(json!({"minimum": 0, "exclusiveMaximum": two_to_128})), 1);
        assert_eq!(
            hidden(json!({"minimum": 0, "maximum": u64::MAX, "exclusiveMaximum": two_to_128})),
            1
        );
        assert_eq!(
            hidden(json!({"minimum": -two_to_128 / 2.0, "exclusiveMaximum": two_to_128 / 2.0})),
            2
        );
        assert_eq!(hidden(json!({"minimum": i64::MIN, "exclusiveMaximum": two_to_128 / 2.0})), 1);
    }
}
