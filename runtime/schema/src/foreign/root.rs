//! Makes the root of an input schema an object schema, because providers require that.

use serde_json::{Map, Value};

use super::keywords;
use super::report::Report;
use toolwright_core::input::shorten;
use toolwright_core::schema::SchemaProblem;

pub(super) fn is_schema(schema: &Value) -> Result<(), SchemaProblem> {
    if schema.is_object() {
        return Ok(());
    }
    let message = format!(
        "found {}, expected an object schema such as {{\"type\": \"object\", \"properties\": {{}}}}",
        shorten(&schema.to_string())
    );
    Err(SchemaProblem::new("", message))
}

/// Sets the type of the root to `object`, if the root describes an object or is empty. Otherwise reports a problem.
pub(super) fn make_object(schema: &mut Value, report: &mut Report) {
    let Value::Object(root) = schema else {
        // The root was a reference to a schema that is `true` or `false`.
        report.problem("", "the root refers to a schema that describes no object");
        return;
    };
    match root.get("type").cloned() {
        Some(Value::String(only)) if only == "object" => {}
        Some(Value::Array(names)) if names.iter().any(|name| name == "object") => {
            let types = Value::Array(names);
            report.note("/type", format!("the root is one of {types}, but a call sends an object"));
        }
        Some(other) => {
            let message = format!(
                "the root is of type {other}, expected \"object\"; put the value into a property"
            );
            report.problem("/type", message);
            return;
        }
        None if says_nothing(root) => {
            report.note("", "the schema says nothing, so any object is taken");
        }
        None if describes_object(root) => {}
        None => {
            let message = "the root has neither `type` nor `properties`, expected an object schema; \
                           add \"type\": \"object\"";
            report.problem("", message);
            return;
        }
    }
    root.insert("type".into(), "object".into());
    root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
}

fn says_nothing(root: &Map<String, Value>) -> bool {
    root.keys().all(|keyword| keyword == "$defs" || keywords::annotation(keyword).is_some())
}

/// Returns whether the keywords of a schema show that it describes objects.
fn describes_object(schema: &Map<String, Value>) -> bool {
    let object = |part: &Value| match part.get("type") {
        Some(kind) => kind == "object",
        None => part.as_object().is_some_and(describes_object),
    };
    let parts = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    schema.keys().any(|keyword| keywords::about(keyword) == Some("object"))
        || parts("allOf").is_some_and(|parts| parts.iter().any(object))
        || ["anyOf", "oneOf"]
            .into_iter()
            .any(|it| parts(it).is_some_and(|parts| !parts.is_empty() && parts.iter().all(object)))
        || schema.get("if").is_some_and(object)
        // The root is a recursive definition. If it does not describe an object, the validator reports that.
        || schema.contains_key("$ref")
}
