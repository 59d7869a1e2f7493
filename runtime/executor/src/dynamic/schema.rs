//! Checks the schemas of run-time tools when the tools are registered, because no Rust type guarantees that these
//! schemas are valid.

use serde_json::{Map, Value};

use super::properties;
use super::properties::Property;
use toolwright_core::input::{Key, Keys};
use toolwright_core::schema::SchemaProblem;
use toolwright_core::tool::Parameter;
use toolwright_schema::foreign::{TypeNames, input_schema};
use toolwright_schema::schema::Checker;

/// Returns the schema of an input in its normal form, and the keys that check input against it.
pub(super) fn input(tool: &str, written: &Value) -> Result<(Value, Keys), SchemaProblem> {
    is_object(written)?;
    required_exist(written)?;
    let arrived = input_schema(written, TypeNames::JsonSchema).map_err(together)?;
    for note in arrived.notes {
        tracing::warn!(tool, pointer = note.pointer, "{}", note.message);
    }
    let mut schema = arrived.schema;
    schema.sort_all_objects();
    let checker = checker("/input_schema", &schema)?;
    // The whole input is one value. It is read strictly and then checked against the schema. If a repair changes the
    // text, the new text is read in the same way.
    let key = Key::required("input", "an object").checked(move |text| checker.check_input(text));
    let keys = Keys::new([key]).map_err(|problem| wrong("", problem.to_string()))?;
    Ok((schema, keys))
}

/// Joins all problems into one problem, at the place of the first.
fn together(problems: Vec<SchemaProblem>) -> SchemaProblem {
    let mut problems = problems.into_iter();
    let Some(mut first) = problems.next() else { return wrong("", "the schema is refused") };
    for problem in problems {
        first.message.push_str("; ");
        first.message.push_str(&problem.to_string());
    }
    first
}

pub(super) fn output(mut written: Value) -> Result<Value, SchemaProblem> {
    written.sort_all_objects();
    checker("/output_schema", &written)?;
    Ok(written)
}

/// Refuses a schema whose default values contain themselves, because filling them in would never end.
pub(super) fn defaults_end(schema: &Value) -> Result<(), SchemaProblem> {
    match toolwright_journal::arguments::endless_defaults(schema) {
        Some(place) => Err(wrong(
            &place,
            "the defaults of its properties contain themselves without an end; leave one of them out",
        )),
        None => Ok(()),
    }
}

/// Refuses a schema with a secret outside the named properties, because the journal could not leave that secret out.
pub(super) fn secrets_have_names(schema: &Value) -> Result<(), SchemaProblem> {
    match properties::secret_without_a_name(schema) {
        Some(place) => Err(wrong(
            &place,
            "a secret is not under one of the `properties` of the input, so it could not be left out of the journal; name its key there",
        )),
        None => Ok(()),
    }
}

/// Lists the properties, for command lines and for code that hides secrets.
pub(super) fn parameters(schema: &Value) -> Vec<Parameter> {
    let parameter = |property: Property<'_>| {
        let description = text(property.schema, "description");
        let (name, schema) = (property.name.to_owned(), property.schema.clone());
        let mut parameter = Parameter::of_schema(name, description, schema, property.required);
        parameter.secret = property.secret;
        parameter
    };
    properties::of(schema).into_iter().map(parameter).collect()
}

/// Marks the parameters whose values the tool sends off the machine.
pub(super) fn mark_sinks(
    parameters: &mut [Parameter],
    sinks: Option<&[String]>,
) -> Result<(), SchemaProblem> {
    for sink in sinks.unwrap_or_default() {
        let Some(parameter) = parameters.iter_mut().find(|it| it.name == *sink) else {
            let message = format!(
                "`{sink}` is named as a sink, and is not among the `properties` of the input"
            );
            return Err(wrong("/properties", message));
        };
        parameter.sink = true;
    }
    Ok(())
}

fn is_object(schema: &Value) -> Result<(), SchemaProblem> {
    let found = match schema {
        Value::Object(object) => match object.get("type") {
            Some(Value::String(name)) if name == "object" => return Ok(()),
            Some(other) => format!("the type of its schema is {other}"),
            None => "its schema names no type".to_owned(),
        },
        other => format!("its schema is {other}"),
    };
    let message =
        format!("the input of a tool is an object, {found}; write `\"type\": \"object\"`");
    Err(wrong("/type", message))
}

/// Refuses a required key that is not among the properties, because it is then nearly always misspelt. In a schema with
/// `patternProperties`, such a key is allowed.
fn required_exist(schema: &Value) -> Result<(), SchemaProblem> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let none = Map::new();
    let properties = properties.unwrap_or(&none);
    match required_names(schema).into_iter().find(|name| !properties.contains_key(*name)) {
        Some(name) if schema.get("patternProperties").is_none() => {
            let message = format!("`{name}` is required, but is not among the properties");
            Err(wrong("/required", message))
        }
        _ => Ok(()),
    }
}

fn required_names(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn text(schema: &Value, keyword: &str) -> String {
    schema.get(keyword).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn checker(pointer: &str, schema: &Value) -> Result<Checker, SchemaProblem> {
    Checker::new(schema).map_err(|problem| SchemaProblem {
        pointer: format!("{pointer}{}", problem.pointer),
        ..problem
    })
}

fn wrong(pointer: &str, message: impl Into<String>) -> SchemaProblem {
    SchemaProblem { pointer: pointer.to_owned(), message: message.into() }
}
