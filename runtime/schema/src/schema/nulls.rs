//! Determines whether `null` is a value of an optional property, or only another way to leave the property out.
//!
//! An option, and a union that has a variant without content, have the same schema. Only the type distinguishes them,
//! when it reads `null`. So the schema remains unchanged until the type has been tested here.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::normal::strip_null;
use super::opening::Openings;
use super::probe::with;
use super::sample::{Place, Sample, samples_without_null};
use super::trial::Trial;
use toolwright_core::json::pointer::below;
use toolwright_core::schema::SchemaProblem;
use toolwright_core::schema::walk::pointers;
use toolwright_core::spec::Probe;

/// Removes `null` from the schema of every optional property whose type refuses `null`.
pub(super) fn settle(document: &mut Value, read: Probe) -> Result<(), SchemaProblem> {
    if !has_any(document) {
        return Ok(());
    }
    let open = open(document);
    let asked: HashSet<&str> = open.iter().map(String::as_str).collect();
    let trial = Trial::new(read);
    let samples = samples_without_null(document).all;
    let mut found: HashMap<&str, Vec<(&Sample, &Place)>> = HashMap::new();
    for sample in &samples {
        for place in sample.places.iter().filter(|place| asked.contains(place.schema.as_str())) {
            found.entry(&place.schema).or_default().push((sample, place));
        }
    }
    // Inner properties come first, because a change of an outer property moves its inner properties.
    for property in open.iter().rev() {
        let places = found.get(property.as_str()).map(Vec::as_slice).unwrap_or_default();
        // A definition to which only other parameters refer is tested with those parameters.
        let is_elsewhere = places.is_empty() && property.starts_with("/$defs/");
        if !is_elsewhere && !takes_null(document, &trial, places)? {
            document.pointer_mut(property).into_iter().for_each(strip_null);
        }
    }
    Ok(())
}

fn takes_null(
    document: &Value,
    trial: &Trial,
    places: &[(&Sample, &Place)],
) -> Result<bool, SchemaProblem> {
    for (sample, place) in places {
        if trial.is_spent() {
            return Ok(false);
        }
        if let Some(opening) = Openings::new(document, sample).before(place)
            && !trial.takes_last(&format!("{opening}null"))?
        {
            return Ok(false);
        }
        if trial.fault(&with(sample, place, json!(null)).to_string())?.is_none() {
            return Ok(true);
        }
        // If the type refuses even the original sample, the test showed nothing about `null`: the next sample is tried.
        if trial.fault(&sample.value.to_string())?.is_none() {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Lists the optional properties that may accept `null`, outer properties first.
fn open(document: &Value) -> Vec<String> {
    let mut places = Vec::new();
    pointers(document, String::new(), &mut places);
    let mut open = Vec::new();
    for place in places {
        let Some(schema) = document.pointer(&place) else { continue };
        let Some(Value::Object(properties)) = schema.get("properties") else { continue };
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|it| it.iter().any(|it| it == name));
        for (name, property) in properties {
            if is_open(property) && !is_required(name) {
                open.push(below(&below(&place, "properties"), name));
            }
        }
    }
    // The pointer of an outer property is shorter than those of its inner properties.
    open.sort_by_key(String::len);
    open
}

/// Returns whether a schema is a union that includes `null`.
pub(super) fn is_open(schema: &Value) -> bool {
    ["anyOf", "oneOf"].iter().any(|keyword| {
        let choices = schema.get(*keyword).and_then(Value::as_array);
        choices.is_some_and(|it| it.iter().any(is_null))
    })
}

pub(super) fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|it| it == "null")
}

/// Returns whether the schema contains a union with `null` anywhere. Most schemas contain none.
fn has_any(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => is_open(schema) || object.values().any(has_any),
        Value::Array(items) => items.iter().any(has_any),
        _ => false,
    }
}
