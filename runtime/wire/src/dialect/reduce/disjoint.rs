//! Determines whether any value is valid for two of several schemas, as far as their keywords show.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::dialect::parts::{constants, required_names, types};

/// The maximum number of schemas that are compared pair by pair.
const PAIRS: usize = 64;

pub(super) fn all_disjoint(variants: &[Value]) -> bool {
    if at_a_glance(variants) {
        return true;
    }
    variants.len() <= PAIRS
        && variants.iter().enumerate().all(|(index, variant)| {
            variants.iter().skip(index + 1).all(|other| disjoint(variant, other))
        })
}

/// Recognises the usual schemas of enums, of any number of variants: distinct constants, and objects that each have
/// their own tag or key.
fn at_a_glance(variants: &[Value]) -> bool {
    let mut values = HashSet::new();
    let mut objects = Vec::new();
    for variant in variants {
        let Some(variant) = variant.as_object() else { return false };
        match constants(variant) {
            Some(constants) => {
                let mut constants = constants.iter();
                if !constants.all(|it| !it.is_object() && values.insert(it.to_string())) {
                    return false;
                }
            }
            None if types(variant) == ["object"] => objects.push(variant),
            None => return false,
        }
    }
    objects.len() < 2 || have_own_keys(&objects) || have_own_tags(&objects)
}

/// Returns whether each object is closed and requires a key that no other object has.
fn have_own_keys(objects: &[&Map<String, Value>]) -> bool {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for object in objects {
        if !is_closed(object) {
            return false;
        }
        for name in names(object) {
            *known.entry(name).or_default() += 1;
        }
    }
    objects.iter().all(|it| required_names(it).any(|name| known.get(name) == Some(&1)))
}

/// Returns whether all objects require the same key, with different constants in each.
fn have_own_tags(objects: &[&Map<String, Value>]) -> bool {
    let Some(first) = objects.first() else { return true };
    names(first).any(|name| {
        let mut values = HashSet::new();
        objects.iter().all(|object| {
            tag(object, name)
                .is_some_and(|tag| tag.iter().all(|value| values.insert(value.to_string())))
        })
    })
}

fn names(object: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let properties = object.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).map(String::as_str)
}

fn is_closed(object: &Map<String, Value>) -> bool {
    object.get("additionalProperties") == Some(&Value::Bool(false))
        && !object.contains_key("patternProperties")
}

/// Returns the constants that a required key allows.
fn tag<'v>(object: &'v Map<String, Value>, name: &str) -> Option<&'v [Value]> {
    let property = object.get("properties")?.get(name)?.as_object().and_then(constants)?;
    required_names(object).any(|it| it == name).then_some(property)
}

/// Returns whether the keywords show that no value is valid for both schemas.
fn disjoint(one: &Value, other: &Value) -> bool {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return false };
    let (ours, theirs) = (types(one), types(other));
    if ours.is_empty() || theirs.is_empty() {
        return false;
    }
    let overlap = |name: &str| {
        theirs.contains(&name)
            || (name == "integer" && theirs.contains(&"number"))
            || (name == "number" && theirs.contains(&"integer"))
    };
    if !ours.iter().any(|name| overlap(name)) {
        return true;
    }
    match (constants(one), constants(other)) {
        (Some(ours), Some(theirs)) => !ours.iter().any(|value| theirs.contains(value)),
        _ => tags_differ(one, other) || foreign_key(one, other) || foreign_key(other, one),
    }
}

fn tags_differ(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    names(one).any(|name| match (tag(one, name), tag(other, name)) {
        (Some(ours), Some(theirs)) => !ours.iter().any(|value| theirs.contains(value)),
        _ => false,
    })
}

/// Returns whether `one` requires a key that `other` does not allow, because `other` is closed.
fn foreign_key(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let known = |name: &str| other.get("properties").is_some_and(|it| it.get(name).is_some());
    is_closed(other) && required_names(one).any(|name| !known(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn enums_of_any_size_are_seen_at_a_glance() {
        let unit = |it: usize| json!({"const": format!("u{it}")});
        let keyed = |it: usize| {
            let key = format!("k{it}");
            json!({"type": "object", "properties": {&key: {}}, "required": [key],
                "additionalProperties": false})
        };
        let tagged = |it: usize| json!({"type": "object", "properties": {"tag": {"const": it}}, "required": ["tag"]});
        let mut variants: Vec<Value> = (0..1_000).map(unit).chain((0..1_000).map(keyed)).collect();
        assert!(all_disjoint(&variants));
        variants.push(unit(3));
        assert!(!all_disjoint(&variants));
        assert!(all_disjoint(&(0..1_000).map(tagged).collect::<Vec<_>>()));
        let pattern = |it: usize| json!({"type": "string", "pattern": it.to_string()});
        assert!(!all_disjoint(&(0..100_000).map(pattern).collect::<Vec<_>>()));
    }
}
