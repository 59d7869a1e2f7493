//! Looks for facts about the two types in a schema.

use serde_json::Value;

use super::Sent;

pub const LEGEND: &str = "\
field      the description of a parameter whose type contains itself
self       the description of the field by which it contains itself
type       a type's own description, where the parameter has one too
variant    the description of a variant of an untagged enum
bound      the least and the greatest value of a field
default, example   of a field
recursion  a reference leads to a schema that contains it, as deep as the model likes
also null  a field that may be left out takes `null` besides
format     what stands as a `format`; Rust's integer types are none of JSON Schema's
keys       keywords that tell a model nothing
closed     every object says that it has no other keys

yes: as a keyword. $ref: beside a reference, where older drafts of JSON Schema do not look and
OpenAI's strict form takes nothing. told: in the words of a description. no: not at all.";

const HEADING: [&str; 13] = [
    "",
    "field",
    "self",
    "type",
    "variant",
    "bound",
    "default",
    "example",
    "recursion",
    "also null",
    "format",
    "keys",
    "closed",
];

/// Makes a table with a row for each schema, under a heading.
pub fn table(all: &[Sent]) -> Vec<Vec<String>> {
    let rows = all.iter().map(|Sent { name, schema }| match schema {
        Ok(schema) => [name.clone()].into_iter().chain(facts(schema)).collect(),
        Err(reason) => vec![name.clone(), reason.clone()],
    });
    [HEADING.map(String::from).to_vec()].into_iter().chain(rows).collect()
}

fn facts(schema: &Value) -> [String; 12] {
    let nodes = nodes(schema);
    let tries = nodes.iter().copied().filter(|it| says(it, "How often to try"));
    let tries: Vec<&Value> = tries.collect();
    let described = |words| described(&nodes, words).to_owned();
    let kept = |keyword, value: Value, word| kept(&tries, keyword, &value, word);
    [
        described("The step to begin with"),
        described("What to do instead when the step fails"),
        described("A place in a text file"),
        described("A line by its number"),
        both(kept("minimum", 2.into(), "2"), kept("maximum", 97.into(), "97")).to_owned(),
        kept("default", 41.into(), "41").to_owned(),
        kept("examples", Value::from(vec![53]), "53").to_owned(),
        yes(nodes.iter().any(|it| contains_itself(schema, it))),
        yes(nodes.iter().any(|it| takes_null(it))),
        listed(nodes.iter().filter_map(|it| it.get("format")?.as_str())),
        listed(
            ["$schema", "title"]
                .into_iter()
                .filter(|key| nodes.iter().any(|it| it.get(key).is_some_and(Value::is_string))),
        ),
        yes(nodes
            .iter()
            .filter(|it| it.get("properties").is_some())
            .all(|it| it.get("additionalProperties") == Some(&false.into()))),
    ]
}

/// Returns every schema within a schema, and the schema itself. Values and names of properties do not count.
fn nodes(schema: &Value) -> Vec<&Value> {
    let mut found = vec![schema];
    let mut next = 0;
    while let Some(node) = found.get(next).copied() {
        next += 1;
        let Some(keywords) = node.as_object() else { continue };
        for (keyword, value) in keywords {
            match (keyword.as_str(), value) {
                ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                    found.extend(named.values());
                }
                ("items" | "additionalProperties", value) if value.is_object() => found.push(value),
                ("anyOf" | "oneOf" | "allOf", Value::Array(schemas)) => found.extend(schemas),
                _ => {}
            }
        }
    }
    found
}

fn says(node: &Value, words: &str) -> bool {
    node.get("description").and_then(Value::as_str).is_some_and(|text| text.contains(words))
}

/// Returns where a description is. One beside a reference counts only where there is no other.
fn described(nodes: &[&Value], words: &str) -> &'static str {
    let saying: Vec<_> = nodes.iter().filter(|it| says(it, words)).collect();
    match saying.iter().any(|it| it.get("$ref").is_none()) {
        true => "yes",
        false if saying.is_empty() => "no",
        false => "$ref",
    }
}

/// Returns where the value of a field's keyword occurs: as the keyword, in the description, or nowhere. `word` is its
/// value, which occurs nowhere else.
fn kept(fields: &[&Value], keyword: &str, value: &Value, word: &str) -> &'static str {
    if fields.iter().any(|it| it.get(keyword) == Some(value)) {
        "yes"
    } else if fields.iter().any(|it| says(it, word)) {
        "told"
    } else {
        "no"
    }
}

fn both(one: &'static str, other: &'static str) -> &'static str {
    match (one, other) {
        ("no", _) | (_, "no") => "no",
        ("told", _) | (_, "told") => "told",
        _ => "yes",
    }
}

/// Returns whether a node refers to a schema that contains the same reference.
fn contains_itself(root: &Value, node: &Value) -> bool {
    let Some(reference) = node.get("$ref").and_then(Value::as_str) else { return false };
    let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
    target.is_some_and(|target| nodes(target).iter().any(|it| it.get("$ref") == node.get("$ref")))
}

/// Returns whether a property accepts `null` and is optional as well.
fn takes_null(node: &Value) -> bool {
    let Some(properties) = node.get("properties").and_then(Value::as_object) else { return false };
    let required: Vec<&Value> =
        node.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    properties.iter().any(|(name, property)| {
        !required.iter().any(|it| *it == name) && nodes(property).iter().any(|it| is_null(it))
    })
}

fn is_null(node: &Value) -> bool {
    match node.get("type") {
        Some(Value::Array(types)) => types.iter().any(|it| it == "null"),
        Some(kind) => kind == "null",
        None => node.get("nullable") == Some(&true.into()),
    }
}

fn yes(fact: bool) -> String {
    if fact { "yes" } else { "no" }.to_owned()
}

fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut words: Vec<_> = words.collect();
    words.sort_unstable();
    words.dedup();
    if words.is_empty() { "none".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_description_beside_a_reference_counts_only_where_there_is_no_other() {
        let beside = json!({"$ref": "#/$defs/Step", "description": "The step to begin with."});
        let alone = json!({"description": "The step to begin with.", "anyOf": [beside]});
        assert_eq!(described(&nodes(&beside), "The step to begin with"), "$ref");
        assert_eq!(described(&nodes(&alone), "The step to begin with"), "yes");
        assert_eq!(described(&nodes(&json!({})), "The step to begin with"), "no");
    }

    #[test]
    fn a_default_told_in_words_is_told_apart_from_a_keyword() {
        let keyword = json!({"description": "How often to try.", "default": 41});
        let words = json!({"description": "How often to try. Default: 41."});
        assert_eq!(kept(&[&keyword], "default", &41.into(), "41"), "yes");
        assert_eq!(kept(&[&words], "default", &41.into(), "41"), "told");
    }

    #[test]
    fn a_required_key_that_takes_null_is_said_in_one_way() {
        let optional = json!({"properties": {"then": {"type": ["array", "null"]}}});
        let mut required = optional.clone();
        required["required"] = json!(["then"]);
        assert!(takes_null(&optional));
        assert!(!takes_null(&required));
    }
}
