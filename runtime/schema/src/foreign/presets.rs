//! Checks the presets of a schema, which are its `default` and its `examples`, against the schema.

use serde_json::{Map, Value, json};

use super::references::{ConvertedSchema, Efforts};
use super::report::Report;
use super::{keywords, limits};
use toolwright_core::input::shorten;
use toolwright_core::schema::in_words;

/// The key under which a schema with a default or examples stores its original location until they are checked. It
/// cannot clash with a keyword of the schema, because unknown keywords are left out.
const PLACE: &str = "\0place";
/// The maximum number of schema values that are compiled to check presets, and of the steps of these checks. Presets
/// whose check would exceed the maximum are not checked.
const EFFORT: usize = 1_000_000;

pub(super) fn mark(schema: &mut Map<String, Value>, at: &str) {
    if schema.contains_key("default") || schema.contains_key("examples") {
        schema.insert(PLACE.into(), at.into());
    }
}

/// Removes every `default` and example that its own schema refuses, and reports the removal in a note.
pub(super) fn check(converted: &mut ConvertedSchema, report: &mut Report) {
    let shared: Map<String, Value> = converted
        .definitions
        .iter()
        .map(|(name, it)| {
            let mut schema = it.schema.clone();
            strip(&mut schema);
            (name.clone(), schema)
        })
        .collect();
    let size = shared.values().map(limits::size).sum();
    let shared = SharedSchemas { schemas: shared, size };
    let mut effort = EFFORT;
    visit(&mut converted.root, &shared, &mut effort, report);
    for definition in converted.definitions.values_mut() {
        visit(&mut definition.schema, &shared, &mut effort, report);
    }
}

struct SharedSchemas {
    schemas: Map<String, Value>,
    size: usize,
}

/// Checks the presets of a schema. The inner schemas come first, so that their [`PLACE`] keys are removed when the
/// outer schema is compiled.
fn visit(schema: &mut Value, shared: &SharedSchemas, effort: &mut usize, report: &mut Report) {
    keywords::parts_mut(schema, &mut |part| visit(part, shared, effort, report));
    let Value::Object(object) = schema else { return };
    let Some(Value::String(place)) = object.remove(PLACE) else { return };
    let mut bare = object.clone();
    let default = bare.remove("default");
    let examples = bare.remove("examples");
    let schema = Value::Object(bare.clone());
    let refers = refers(&schema);
    let compiled =
        bare.values().map(limits::size).sum::<usize>() + if refers { shared.size } else { 0 };
    let values = default.iter().chain(&examples).map(limits::size).sum();
    let checked = Efforts::of(&shared.schemas).estimate(&schema).saturating_mul(values);
    let Some(left) = effort.checked_sub(compiled.saturating_add(checked)) else {
        report.note(place, "the default and the examples were not checked: there are too many");
        return;
    };
    *effort = left;
    let expected = in_words(&schema, &schema);
    if refers {
        bare.insert("$defs".into(), shared.schemas.clone().into());
    }
    // A schema that does not compile is reported later, when the whole schema is compiled.
    let Ok(validator) = jsonschema::options().build(&Value::Object(bare)) else { return };
    let mut fits = |what: &str, value: &Value| {
        let fits = validator.is_valid(value);
        if !fits {
            let (found, expected) = (shorten(&value.to_string()), shorten(&expected));
            report.note(
                format!("{place}/{what}"),
                format!("{found} is not what the schema takes, expected {expected}; left out"),
            );
        }
        fits
    };
    if default.is_some_and(|default| !fits("default", &default)) {
        object.remove("default");
    }
    if let Some(Value::Array(mut examples)) = examples {
        examples.retain(|example| fits("examples", example));
        object.insert("examples".into(), json!(examples));
        if examples.is_empty() {
            object.remove("examples");
        }
    }
}

fn refers(schema: &Value) -> bool {
    let mut found = std::collections::BTreeSet::new();
    super::references::collect(schema, false, &mut found);
    !found.is_empty()
}

fn strip(schema: &mut Value) {
    keywords::parts_mut(schema, &mut strip);
    if let Value::Object(object) = schema {
        object.remove(PLACE);
    }
}
