//! Values from a schema.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::changes::{key, odd};

/// Values that a schema takes, or nearly.
pub fn values(schema: &Value, root: &Value, depth: u32) -> BoxedStrategy<Value> {
    let Value::Object(object) = schema else { return odd().boxed() };
    let choose = |choices: &[Value]| -> BoxedStrategy<Value> {
        let each: Vec<_> = choices.iter().map(|it| values(it, root, depth)).collect();
        prop::strategy::Union::new(each).boxed()
    };
    if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
        return match root.pointer(reference.trim_start_matches('#')) {
            Some(target) if depth > 0 => values(target, root, depth - 1),
            _ => Just(Value::Null).boxed(),
        };
    }
    if let Some(only) = object.get("const") {
        return Just(only.clone()).boxed();
    }
    if let Some(Value::Array(choices)) = object.get("enum") {
        return prop::sample::select(choices.clone()).boxed();
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(choices)) = object.get(keyword) {
            if !object.contains_key("properties") {
                return choose(choices);
            }
            let beside = objects(object, root, depth);
            return (beside, choose(choices))
                .prop_map(|(mut beside, chosen)| {
                    if let (Value::Object(ours), Value::Object(theirs)) = (&mut beside, chosen) {
                        ours.extend(theirs);
                    }
                    beside
                })
                .boxed();
        }
    }
    match object.get("type") {
        Some(Value::Array(names)) => {
            let each: Vec<Value> = names
                .iter()
                .map(|name| {
                    let mut one = object.clone();
                    one.insert("type".into(), name.clone());
                    Value::Object(one)
                })
                .collect();
            choose(&each)
        }
        Some(Value::String(name)) => typed(name, object, root, depth),
        _ if object.contains_key("format") => typed("string", object, root, depth),
        _ => odd().boxed(),
    }
}

fn typed(
    name: &str,
    object: &Map<String, Value>,
    root: &Value,
    depth: u32,
) -> BoxedStrategy<Value> {
    let count = |keyword: &str| object.get(keyword).and_then(Value::as_u64).map(|it| it as usize);
    match name {
        "null" => Just(Value::Null).boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" => integers(object),
        "number" => prop_oneof![(-1e6..1e6_f64).prop_map(Value::from), odd()].boxed(),
        "string" => strings(object),
        "object" => objects(object, root, depth).boxed(),
        "array" => {
            if let Some(Value::Array(parts)) = object.get("prefixItems") {
                let parts: Vec<_> = parts.iter().map(|it| values(it, root, depth)).collect();
                return parts.prop_map(Value::from).boxed();
            }
            let most = count("maxItems").unwrap_or(if depth == 0 { 0 } else { 3 });
            let items = values(object.get("items").unwrap_or(&Value::Null), root, depth);
            prop::collection::vec(items, count("minItems").unwrap_or(0)..=most)
                .prop_map(Value::from)
                .boxed()
        }
        other => panic!("unknown type {other}"),
    }
}

fn integers(object: &Map<String, Value>) -> BoxedStrategy<Value> {
    let limit = |keyword: &str| object.get(keyword).and_then(Value::as_f64);
    let low = limit("minimum").unwrap_or(-1e9).max(-9e18) as i64;
    let high =
        limit("maximum").or(limit("exclusiveMaximum").map(|it| it - 1.0)).unwrap_or(1e9).min(9e18)
            as i64;
    let ends: Vec<Value> =
        ["minimum", "maximum"].iter().filter_map(|it| object.get(*it).cloned()).collect();
    prop_oneof![
        3 => (low..=high.max(low)).prop_map(Value::from),
        1 => prop::sample::select([ends, vec![json!(low), json!(high)]].concat())
            .prop_filter("jsonschema would see it rounded", |it| !it.is_f64()),
        1 => odd(),
    ]
    .boxed()
}

fn strings(object: &Map<String, Value>) -> BoxedStrategy<Value> {
    let format = object.get("format").and_then(Value::as_str);
    let form = match format {
        Some("date-time") => {
            "[0-9]{4}-(0[1-9]|1[0-2])-[0-3][0-9][Tt ][0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.[0-9]{1,11})?([Zz]|[+-][0-2][0-9]:[0-5][0-9])"
        }
        Some("date") => "[0-9]{4}-(0[1-9]|1[0-2])-[0-3][0-9]",
        Some("uuid") => "[0-9a-fA-F]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}",
        Some("ipv4") => "[0-9]{1,2}(\\.[0-9]{1,3}){3}",
        Some("ipv6") => "(::|[0-9a-f]{1,4}:)(:[0-9a-f]{1,4}){1,7}",
        Some("uri") => {
            "(https?|ftp|file|mailto|data|urn|x-y)://?/?[a-z0-9.-]{0,9}(:[0-9]{1,5})?(/[a-z%0-9]{0,6}){0,2}(\\?[a-z=]{0,4})?(#[a-z]{0,3})?"
        }
        Some("int32") | None => "[a-zé\"\\\\ ]{0,5}",
        Some(_) => "[a-z]{0,5}",
    };
    let form = match object.get("pattern").and_then(Value::as_str) {
        Some(pattern) if format != Some("date-time") => {
            pattern.trim_start_matches('^').trim_end_matches('$')
        }
        _ => form,
    };
    let length = |keyword: &str| object.get(keyword).and_then(Value::as_u64);
    let form = match (length("minLength"), length("maxLength")) {
        (Some(least), Some(most)) => format!("[a-zé\"]{{{least},{most}}}"),
        _ => form.to_owned(),
    };
    let exact = prop::string::string_regex(&form).unwrap().prop_map(Value::from);
    prop_oneof![4 => exact, 1 => odd()].boxed()
}

fn objects(
    object: &Map<String, Value>,
    root: &Value,
    depth: u32,
) -> impl Strategy<Value = Value> + use<> {
    let empty = Map::new();
    let named = object.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let named: Vec<_> = named
        .iter()
        .map(|(name, schema)| {
            let value = values(schema, root, depth);
            let given = if required.contains(&name.as_str()) {
                value.prop_map(Some).boxed()
            } else if depth == 0 {
                Just(None).boxed()
            } else {
                prop::option::of(value).boxed()
            };
            (Just(name.clone()), given)
        })
        .collect();
    let mut more = Vec::new();
    let names = object.get("propertyNames");
    if let Some(schema) = object.get("additionalProperties").filter(|it| **it != false) {
        let key = match names {
            Some(names) if names.get("minLength").is_none() => values(names, root, 0),
            _ => key().prop_map(Value::from).boxed(),
        };
        let key = key.prop_map(|it| it.as_str().unwrap_or_default().to_owned()).boxed();
        more.push((key, values(schema, root, depth)));
    }
    let patterns = object.get("patternProperties").and_then(Value::as_object);
    for (pattern, schema) in patterns.into_iter().flatten() {
        let key = pattern.trim_start_matches('^').trim_end_matches('$');
        let key = prop::string::string_regex(key).unwrap().boxed();
        more.push((key, values(schema, root, depth)));
    }
    let more: Vec<_> = more.into_iter().map(|it| prop::collection::vec(it, 0..3)).collect();
    (named, more).prop_map(|(named, more)| {
        let named = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Value::Object(named.chain(more.into_iter().flatten()).collect())
    })
}
