//! Writes the help of a tool and of its parameters.

use serde_json::{Value, json};

use super::field::{Choice, Field, Shape};
use toolwright_core::tool::first_sentence;
use toolwright_core::tool::{Danger, DeclaredApproval, DeclaredDanger, Definition, Effect};

/// Describes a tool in a list: what the tool does, and whether a person should be careful.
pub(super) fn in_a_list(definition: &Definition) -> String {
    let sentence = first_sentence(&definition.description);
    match definition.danger {
        DeclaredDanger::Level(level @ (Danger::Dangerous | Danger::Critical)) => {
            format!("{sentence} [{}]", level.as_str())
        }
        _ => sentence.to_owned(),
    }
}

/// Makes the text below the flags of a tool.
pub(super) fn of_tool(definition: &Definition, takes_yes: bool) -> String {
    let mut words = format!("Danger: {}\nEffect: {}", danger(definition), effect(definition));
    if let Some(approval) = approval(definition) {
        let how = if takes_yes { "; the terminal asks, or give --yes" } else { "" };
        words = format!("{words}\nApproval: {approval}{how}");
    }
    words
}

pub(super) fn danger(definition: &Definition) -> &'static str {
    match definition.danger {
        DeclaredDanger::Level(level) => level.as_str(),
        DeclaredDanger::Computed => "depends on the input",
    }
}

pub(super) fn effect(definition: &Definition) -> &'static str {
    match definition.effect {
        Effect::Read => "read (changes nothing)",
        Effect::Idempotent => "idempotent (repeated, it leaves the same end state)",
        Effect::Keyed => "keyed (may be repeated with the same idempotency key)",
        Effect::Once => "once (must not be repeated)",
    }
}

pub(super) fn approval(definition: &Definition) -> Option<String> {
    if let Some(reason) = definition.asks_for() {
        return Some(format!("a person must agree ({reason})"));
    }
    match definition.approval {
        DeclaredApproval::Never => None,
        DeclaredApproval::Always(reason) => Some(format!("a person must agree ({reason})")),
        DeclaredApproval::Computed => Some("depends on the input".to_owned()),
    }
}

/// Describes a parameter in one line.
pub(super) fn short(field: &Field<'_>, also: Option<&str>) -> String {
    let choices = (!field.choices.is_empty()).then(|| one_of(&field.choices));
    let sentence = first_sentence(field.description).to_owned();
    let notes = choices.into_iter().chain(notes(field, false)).chain(also_as(also));
    let all = notes.map(|note| format!("[{note}]"));
    std::iter::once(sentence).chain(all).filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Describes a parameter completely.
pub(super) fn long(field: &Field<'_>, also: Option<&str>) -> String {
    let described = field.choices.iter().any(|choice| choice.description.is_some());
    let mut paragraphs = vec![field.description.to_owned()];
    if described {
        let lines = field.choices.iter().map(|choice| match choice.description {
            Some(words) => format!("- {}: {}", describe_value(choice.value), first_sentence(words)),
            None => format!("- {}", describe_value(choice.value)),
        });
        paragraphs.push(format!("One of:\n{}", lines.collect::<Vec<_>>().join("\n")));
    }
    let choices = (!described && !field.choices.is_empty()).then(|| one_of(&field.choices));
    let notes = choices.into_iter().chain(notes(field, true)).chain(also_as(also));
    let notes = notes.map(|note| format!("[{note}]"));
    paragraphs.push(notes.collect::<Vec<_>>().join(" "));
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs.join("\n")
}

fn also_as(flag: Option<&str>) -> Option<String> {
    flag.map(|flag| format!("also: --{flag}"))
}

fn one_of(choices: &[Choice<'_>]) -> String {
    let choices: Vec<String> = choices.iter().map(|choice| describe_value(choice.value)).collect();
    format!("one of: {}", choices.join(", "))
}

fn notes(field: &Field<'_>, all: bool) -> Vec<String> {
    let schema = field.schema;
    let mut notes = Vec::new();
    match field.shape {
        Shape::List(_) => {
            notes.push("repeatable".to_owned());
            notes.extend(range(schema, "minItems", "maxItems", " items"));
        }
        Shape::Json => notes.extend(describe_nested(schema)),
        Shape::Number => {
            notes.extend(range(schema, "minimum", "maximum", ""));
            let limit = |keyword, words| Some(format!("{words} {}", schema.get(keyword)?));
            notes.extend(limit("exclusiveMinimum", "more than"));
            notes.extend(limit("exclusiveMaximum", "less than"));
        }
        Shape::Text => notes.extend(range(schema, "minLength", "maxLength", " characters")),
        Shape::Switch => {}
    }
    let pattern = schema.get("pattern").and_then(Value::as_str);
    notes.extend(pattern.map(|pattern| format!("pattern: {pattern}")));
    // A default of `false` or an empty list is what people expect, so it is not mentioned.
    let default = field.default().filter(|it| **it != false && **it != json!([]));
    notes.extend(default.map(|default| format!("default: {}", describe_value(default))));
    let examples =
        schema.get("examples").and_then(Value::as_array).filter(|it| all && !it.is_empty());
    if let Some(examples) = examples {
        let values: Vec<String> = examples.iter().map(describe_value).collect();
        let word = if values.len() == 1 { "example" } else { "examples" };
        notes.push(format!("{word}: {}", values.join(", ")));
    }
    notes
}

/// Describes the range of a value, except limits that only come from the width of an integer.
fn range(schema: &Value, least: &str, most: &str, of_what: &str) -> Option<String> {
    let is_width =
        |limit: &&Value| limit.as_f64().is_some_and(|it| it.abs() >= f64::from(i32::MAX));
    let limit = |keyword| schema.get(keyword).filter(|it| !is_width(it));
    let is_wide = schema.get(most).is_some_and(|it| is_width(&it));
    let least = limit(least).filter(|it| **it != 0 || (of_what.is_empty() && !is_wide));
    match (least, limit(most)) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}{of_what}")),
        (Some(least), None) => Some(format!("at least {least}{of_what}")),
        (None, Some(most)) => Some(format!("at most {most}{of_what}")),
        (None, None) => None,
    }
}

/// Describes the parts of a JSON value.
fn describe_nested(schema: &Value) -> Option<String> {
    let of_type = |schema: &Value, name: &str| schema.get("type").is_some_and(|it| it == name);
    let (words, object) = if of_type(schema, "object") {
        ("a JSON object", schema)
    } else if of_type(schema, "array") {
        match schema.get("items").filter(|items| of_type(items, "object")) {
            Some(items) => ("a JSON list of objects", items),
            None => return Some("a JSON list".to_owned()),
        }
    } else {
        return tags(schema);
    };
    let keys: Vec<&str> = object
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|properties| properties.keys().map(String::as_str))
        .collect();
    Some(if keys.is_empty() { words.to_owned() } else { format!("{words}: {}", keys.join(", ")) })
}

/// Describes an object with a tag, by the values of the tag.
fn tags(schema: &Value) -> Option<String> {
    let variants = ["oneOf", "anyOf"].iter().find_map(|it| schema.get(it)?.as_array())?;
    let constant = |variant: &Value| {
        let properties = variant.get("properties")?.as_object()?;
        let (key, value) = properties.iter().find(|(_, it)| it.get("const").is_some())?;
        Some((key.clone(), describe_value(value.get("const")?)))
    };
    let tagged: Option<Vec<(String, String)>> = variants.iter().map(constant).collect();
    let tagged = tagged?;
    let (key, _) = tagged.first()?;
    let is_one = tagged.iter().all(|(other, _)| other == key);
    let values: Vec<&str> = tagged.iter().map(|(_, value)| value.as_str()).collect();
    is_one.then(|| format!("a JSON object with {key:?} one of: {}", values.join(", ")))
}

/// Writes a value as a person would type it.
fn describe_value(value: &Value) -> String {
    match value.as_str() {
        Some(text) if !text.is_empty() && !text.contains(char::is_whitespace) => text.to_owned(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_with_a_tag_says_the_values_of_the_tag() {
        let tagged = |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}, "size": {"type": "number"}}});
        let nested = |schema: Value| describe_nested(&schema).unwrap_or_default();
        assert_eq!(
            nested(json!({"oneOf": [tagged("circle"), tagged("square")]})),
            "a JSON object with \"kind\" one of: circle, square"
        );
        assert_eq!(nested(json!({"oneOf": [tagged("circle"), {"type": "object"}]})), "");
    }

    #[test]
    fn limits_are_told_unless_they_are_those_of_an_integer() {
        let told = |schema: Value| range(&schema, "minimum", "maximum", "").unwrap_or_default();
        for (schema, words) in [
            (json!({"minimum": 0, "maximum": 255}), "0 to 255"),
            (json!({"minimum": 0, "maximum": u64::MAX}), ""),
            (json!({"minimum": 1, "maximum": u64::MAX}), "at least 1"),
            (json!({"minimum": i32::MIN, "maximum": i32::MAX}), ""),
            (json!({"minimum": i64::MIN, "maximum": 9}), "at most 9"),
            (json!({"minimum": 0.5}), "at least 0.5"),
            (json!({"minimum": 0}), "at least 0"),
        ] {
            assert_eq!(told(schema), words);
        }
    }
}
