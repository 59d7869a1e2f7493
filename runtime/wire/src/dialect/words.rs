//! Writes constraints as sentences for the description, if a provider has no keyword for them.

use serde_json::{Map, Value};

use super::node::Node;

/// Returns a sentence that states the meaning of a keyword.
pub(super) fn sentence(keyword: &str, value: &Value) -> String {
    let texts = |values: &[Value]| values.iter().map(json).collect::<Vec<_>>().join(", ");
    match (keyword, value) {
        ("minLength", length) => format!("At least {}.", count_of(length, "character")),
        ("maxLength", length) => format!("At most {}.", count_of(length, "character")),
        ("minItems", count) => format!("At least {}.", count_of(count, "item")),
        ("maxItems", count) => format!("At most {}.", count_of(count, "item")),
        ("minProperties", count) => format!("At least {}.", count_of(count, "key")),
        ("maxProperties", count) => format!("At most {}.", count_of(count, "key")),
        ("minimum", limit) => format!("At least {limit}."),
        ("maximum", limit) => format!("At most {limit}."),
        ("exclusiveMinimum", limit) => format!("More than {limit}."),
        ("exclusiveMaximum", limit) => format!("Less than {limit}."),
        ("multipleOf", step) => format!("A multiple of {step}."),
        ("uniqueItems", Value::Bool(true)) => "No item twice.".to_owned(),
        ("pattern", Value::String(pattern)) => {
            format!("Matches the regular expression `{pattern}`.")
        }
        ("format", Value::String(format)) => format!("Format: {format}."),
        ("default", default) => format!("Default: {}.", json(default)),
        ("examples", Value::Array(examples)) => format!("For example: {}.", texts(examples)),
        ("const", only) => format!("Always {}.", json(only)),
        ("enum", Value::Array(choices)) => format!("One of {}.", texts(choices)),
        ("deprecated", Value::Bool(true)) => "Deprecated.".to_owned(),
        _ => {
            let condition = Map::from_iter([(keyword.to_owned(), value.clone())]);
            format!("Keeps to the JSON Schema {}.", json(&Value::Object(condition)))
        }
    }
}

/// Returns whether a keyword with this value has no effect on which arguments are valid.
pub(super) fn says_nothing(keyword: &str, value: &Value) -> bool {
    match keyword {
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => *value == Value::Bool(false),
        "minItems" | "minLength" | "minProperties" => value.as_u64() == Some(0),
        "title" | "$schema" | "$comment" | "$id" => true,
        _ => false,
    }
}

/// Returns the description with the sentences appended.
pub(super) fn describe(description: &str, sentences: &[String]) -> String {
    let mut text = description.trim_end().to_owned();
    for (index, sentence) in sentences.iter().enumerate() {
        if !text.is_empty() {
            if index == 0 && !text.ends_with(['.', '!', '?', ':', ';', '`', '\n']) {
                text.push('.');
            }
            // After a paragraph or a list, an empty line separates the sentences from it.
            text.push_str(if index == 0 && text.contains('\n') { "\n\n" } else { " " });
        }
        text.push_str(sentence);
    }
    text
}

/// Writes a value as JSON, with its keys in an order that does not depend on the features of `serde_json`.
fn json(value: &Value) -> String {
    serde_json::to_string(&Node::from_sorted(value)).unwrap_or_else(|_| value.to_string())
}

fn count_of(count: &Value, what: &str) -> String {
    let plural = if count.as_u64() == Some(1) { "" } else { "s" };
    format!("{count} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_follow_the_description_as_prose() {
        let two = ["At least 1.".to_owned(), "Default: 1.".to_owned()];
        assert_eq!(describe("The first line", &two), "The first line. At least 1. Default: 1.");
        assert_eq!(describe("", &two[..1]), "At least 1.");
        assert_eq!(describe("How:\n- so", &two[..1]), "How:\n- so.\n\nAt least 1.");
    }

    #[test]
    fn what_has_no_sentence_is_told_as_the_schema_it_is() {
        let told = sentence("not", &serde_json::json!({"const": 3}));
        assert_eq!(told, r#"Keeps to the JSON Schema {"not":{"const":3}}."#);
    }

    #[test]
    fn objects_are_told_by_the_order_of_their_keys() {
        let default = serde_json::from_str(r#"{"b":{"d":1,"c":2},"a":3}"#).unwrap();
        assert_eq!(sentence("default", &default), r#"Default: {"a":3,"b":{"c":2,"d":1}}."#);
    }
}
