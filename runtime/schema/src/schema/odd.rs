//! Odd values of every JSON type, with which the parts of a sample value are replaced in turn. If possible, this module
//! decides without a validator whether a schema accepts an odd value.

use serde_json::{Map, Value};

/// A text that is unlikely to be a key, a choice or a special value of any type.
pub(super) const ODD: &str = "\u{2603}\u{2603}";

/// Sample values of every JSON type, as JSON text.
pub(super) const TEXTS: [&str; 8] =
    ["null", "true", "7", "2.0", "1.5", "\"\u{2603}\u{2603}\"", "[]", "{}"];

/// For each of [`TEXTS`], whether a schema accepts it; `None` if that is unknown.
pub(super) type Verdicts = [Option<bool>; TEXTS.len()];

const NULL: usize = 0;
const BOOLEAN: usize = 1;
const NUMBERS: [(usize, f64); 3] = [(2, 7.0), (3, 2.0), (4, 1.5)];
const TEXT: usize = 5;
const LIST: usize = 6;
const OBJECT: usize = 7;

const UNKNOWN: Verdicts = [None; TEXTS.len()];
/// Keywords that do not decide whether a value is valid.
const NOTES: &[&str] = &["description", "default", "examples", "title", "deprecated", "$defs"];

pub(super) fn verdicts(document: &Value, at: &str) -> Verdicts {
    let object = match document.pointer(at) {
        Some(Value::Bool(any)) => return [Some(*any); TEXTS.len()],
        Some(Value::Object(object)) => object,
        _ => return UNKNOWN,
    };
    let mut says = object.keys().filter(|keyword| !NOTES.contains(&keyword.as_str()));
    let (first, is_only) = (says.next().map(String::as_str), says.next().is_none());
    match first {
        None => [Some(true); TEXTS.len()],
        Some("$ref") if is_only => {
            let target = object.get("$ref").and_then(Value::as_str);
            // A reference to a definition that is itself a reference is not followed, because it could lead back.
            let target = target.and_then(|it| it.strip_prefix('#')).filter(|it| {
                document.pointer(it).is_some_and(|target| target.get("$ref").is_none())
            });
            target.map_or(UNKNOWN, |target| verdicts(document, target))
        }
        Some("oneOf") if is_only && is_tagged(object) => {
            let mut verdicts = [Some(false); TEXTS.len()];
            let mut choices = object.get("oneOf").and_then(Value::as_array).into_iter().flatten();
            if choices.any(|choice| kind(choice) == Some("null")) {
                verdicts[NULL] = Some(true);
            }
            verdicts
        }
        _ => judge_type(object),
    }
}

fn kind(schema: &Value) -> Option<&str> {
    schema.get("type").and_then(Value::as_str)
}

fn judge_type(object: &Map<String, Value>) -> Verdicts {
    let names: Vec<&str> = match object.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return UNKNOWN,
    };
    let mut verdicts = [Some(false); TEXTS.len()];
    let says_only = |known: &[&str]| {
        let is_known = |it: &str| it == "type" || NOTES.contains(&it) || known.contains(&it);
        object.keys().all(|keyword| is_known(keyword))
    };
    // A keyword such as `enum` applies to all types, so it may exclude any of the values.
    let is_of_texts = |it: &Value| it.is_string();
    match (object.get("enum"), object.get("const")) {
        (None, None) => {}
        (Some(Value::Array(choices)), None)
            if choices.iter().all(is_of_texts) && says_only(&["enum"]) =>
        {
            verdicts[TEXT] = Some(choices.iter().any(|it| it == ODD));
            return verdicts;
        }
        (None, Some(only)) if is_of_texts(only) && says_only(&["const"]) => {
            verdicts[TEXT] = Some(only == ODD);
            return verdicts;
        }
        _ => return UNKNOWN,
    }
    const APPLICATORS: &[&str] = &["anyOf", "oneOf", "allOf", "not", "if", "$ref", "$dynamicRef"];
    if APPLICATORS.iter().any(|it| object.contains_key(*it)) {
        return UNKNOWN;
    }
    for name in names {
        match name {
            "null" => verdicts[NULL] = Some(true),
            "boolean" => verdicts[BOOLEAN] = Some(true),
            "string" => verdicts[TEXT] = says_only(&[]).then_some(true),
            "number" | "integer" => {
                for (index, number) in NUMBERS {
                    let taken = number_is_taken(object, number);
                    let is_of_kind = name == "number" || number.fract() == 0.0;
                    verdicts[index] = if is_of_kind { taken } else { Some(false) };
                }
            }
            "array" => {
                let known = ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"];
                let has_least = object.get("minItems").is_some_and(|it| *it != 0);
                verdicts[LIST] = says_only(&known).then_some(!has_least);
            }
            "object" => {
                let known = [
                    "properties",
                    "required",
                    "additionalProperties",
                    "patternProperties",
                    "propertyNames",
                ];
                let required = object.get("required").and_then(Value::as_array);
                let is_free = required.is_none_or(Vec::is_empty);
                verdicts[OBJECT] = says_only(&known).then_some(is_free);
            }
            _ => return UNKNOWN,
        }
    }
    verdicts
}

fn number_is_taken(object: &Map<String, Value>, number: f64) -> Option<bool> {
    let holds = |keyword: &str, holds: fn(f64, f64) -> bool| match object.get(keyword) {
        None => Some(true),
        Some(limit) => limit.as_f64().map(|limit| holds(number, limit)),
    };
    if object.contains_key("multipleOf") || object.contains_key("format") {
        return None;
    }
    Some(
        holds("minimum", |it, limit| it >= limit)?
            && holds("maximum", |it, limit| it <= limit)?
            && holds("exclusiveMinimum", |it, limit| it > limit)?
            && holds("exclusiveMaximum", |it, limit| it < limit)?,
    )
}

/// Returns whether the only key of a value, or its text, shows which of the choices the value is.
pub(super) fn is_tagged(object: &Map<String, Value>) -> bool {
    let Some(Value::Array(choices)) = object.get("oneOf") else { return false };
    let mut keys = Vec::with_capacity(choices.len());
    for choice in choices {
        match kind(choice) {
            Some("null") => {}
            Some("string") if choice.get("const").or(choice.get("enum")).is_some() => {
                let names = choice.get("const").into_iter();
                let more = choice.get("enum").and_then(Value::as_array).into_iter().flatten();
                if names.chain(more).any(|it| !it.is_string() || it == ODD) {
                    return false;
                }
            }
            Some("object") => {
                let Some(key) = tag(choice) else { return false };
                keys.push(key);
            }
            _ => return false,
        }
    }
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    keys.len() == count
}

/// Returns the key of a closed object schema that has a single, required key.
fn tag(choice: &Value) -> Option<&str> {
    const KNOWN: &[&str] = &["type", "properties", "required", "additionalProperties"];
    let object = choice.as_object()?;
    let is_known = |it: &String| KNOWN.contains(&it.as_str()) || NOTES.contains(&it.as_str());
    let mut properties = object.get("properties")?.as_object()?.iter();
    let (key, content) = properties.next()?;
    let needs = object.get("required")?.as_array()?;
    (object.keys().all(is_known)
        && properties.next().is_none()
        && needs.len() == 1
        && needs.first()? == key
        && object.get("additionalProperties") == Some(&Value::Bool(false))
        && content.get("const").is_none())
    .then_some(key)
}
