//! Checks presets, which are defaults and examples. A preset has to be the same each time it is made, and its schema
//! has to accept it.

use std::cmp::Ordering;

use serde_json::Value;

use super::check::Checker;
use toolwright_core::json::pointer::below;
use toolwright_core::schema::SchemaProblem;
use toolwright_core::schema::walk::pointers;
use toolwright_core::spec::Preset;

/// Makes the value of a default or an example, and checks that it is the same each time: it is shown to models now, and
/// filled in at later calls.
pub(super) fn constant(what: &str, preset: Preset) -> Result<Value, SchemaProblem> {
    let make = || {
        preset().map_err(|error| {
            SchemaProblem::new("", format!("the {what} cannot be written as JSON: {error}"))
        })
    };
    let (one, other) = (make()?, make()?);
    if sort_all(one.clone()) == sort_all(other.clone()) {
        return Ok(one);
    }
    let message = format!(
        "the {what} is another each time it is made, first {one}, then {other}; write a constant value, or take an \
         `Option` and make the value in the tool"
    );
    Err(SchemaProblem::new("", message))
}

/// Sorts the items of a set, because a `HashSet` may be serialised in another order each time.
pub(super) fn sort(value: &mut Value) {
    if let Value::Array(items) = value {
        items.sort_by(|one, other| {
            let numbers = one.as_f64().zip(other.as_f64());
            let order = numbers.map_or(Ordering::Equal, |(one, other)| one.total_cmp(&other));
            order.then_with(|| one.to_string().cmp(&other.to_string()))
        });
    }
}

/// Returns a value with all its arrays sorted, because any of them may be a set.
fn sort_all(mut value: Value) -> Value {
    match &mut value {
        Value::Array(items) => items.iter_mut().for_each(|it| *it = sort_all(it.take())),
        Value::Object(object) => object.values_mut().for_each(|it| *it = sort_all(it.take())),
        _ => {}
    }
    sort(&mut value);
    value
}

/// Checks every default and example in a schema that contains its definitions.
///
/// If a default or an example is valid only without its `null` values, removes them: serde writes an absent key as
/// `null`.
pub(super) fn settle(document: &mut Value) -> Result<(), SchemaProblem> {
    let mut places = Vec::new();
    pointers(document, String::new(), &mut places);
    for place in places {
        let Some(schema) = document.pointer(&place) else { continue };
        let default = schema.get("default").map(|it| ("default", None, it));
        let examples = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
        let examples = examples.enumerate().map(|(index, it)| ("example", Some(index), it));
        let presets: Vec<_> = default
            .into_iter()
            .chain(examples)
            .map(|(what, index, value)| (what, index, value.clone()))
            .collect();
        if presets.is_empty() {
            continue;
        }
        let checker = Checker::new(&alone(document, &place))?;
        for (what, index, mut value) in presets {
            let Err(problems) = checker.check(&value) else { continue };
            if without_nulls(&mut value) && checker.is_valid(&value) {
                put(document, &place, index, value);
                continue;
            }
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            let message = format!("the {what} {value} breaks the schema: {}", problems.join("; "));
            return Err(SchemaProblem::new(place, message));
        }
    }
    Ok(())
}

/// Returns one schema of a document, with the definitions to which it may refer.
fn alone(document: &Value, place: &str) -> Value {
    let mut schema = document.pointer(place).cloned().unwrap_or_default();
    if let (Some(definitions), Some(object)) = (document.get("$defs"), schema.as_object_mut()) {
        object.entry("$defs").or_insert_with(|| definitions.clone());
    }
    schema
}

fn put(document: &mut Value, place: &str, index: Option<usize>, value: Value) {
    let pointer = match index {
        None => below(place, "default"),
        Some(index) => below(&below(place, "examples"), &index.to_string()),
    };
    if let Some(preset) = document.pointer_mut(&pointer) {
        *preset = value;
    }
}

/// Removes every key whose value is `null`. Returns whether any key was removed.
fn without_nulls(value: &mut Value) -> bool {
    match value {
        Value::Object(object) => {
            let before = object.len();
            object.retain(|_, value| !value.is_null());
            let inside = object.values_mut().fold(false, |any, it| without_nulls(it) | any);
            inside || object.len() < before
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, it| without_nulls(it) | any),
        _ => false,
    }
}
