//! Makes the input schema of a tool whose arguments an application has preset or renamed.
//!
//! - The schema for models does not contain preset arguments. A constraint that cannot be expressed without a preset
//!   argument is left out, because input is checked against the tool's own schema as well.
//! - A reference to the whole input, or to one of its arguments, leads to a copy of the tool's own schema.

mod in_place;

use serde_json::{Map, Value, json};

use crate::schema::Checker;
use in_place::Renaming;
use toolwright_core::adaptation::ArgumentChange;
use toolwright_core::input::Problem;
use toolwright_core::json::pointer::below;
use toolwright_core::schema::SchemaProblem;
use toolwright_core::schema::walk::each_schema;

/// An argument of a tool, and the changes that an application made to the argument.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptedArgument {
    /// The name of the argument in the tool's own schema.
    pub own: String,
    /// The name of the argument for models, policy and approvers.
    pub name: String,
    /// The value that the application preset for the argument; `None` if the model supplies the value.
    pub preset: Option<Value>,
    /// The new description of the argument; `None` if the tool's own description remains.
    pub description: Option<String>,
}

/// Collects the changes of each argument, in the order of the schema.
///
/// # Errors
/// When a change names an argument that does not exist or that already has a preset value; when a new name is empty, or
/// is the name of another argument; or when the schema of an argument refuses its preset value.
pub fn arguments(
    schema: &Value,
    changes: &[ArgumentChange],
) -> Result<Vec<AdaptedArgument>, SchemaProblem> {
    let own = schema.get("properties").and_then(Value::as_object);
    let of = |own: &String| AdaptedArgument {
        own: own.clone(),
        name: own.clone(),
        preset: None,
        description: None,
    };
    let mut arguments: Vec<AdaptedArgument> = own.into_iter().flat_map(Map::keys).map(of).collect();
    for change in changes {
        match change {
            ArgumentChange::Preset { argument, value } => {
                let found = find(&mut arguments, argument, "preset")?;
                fits(schema, &found.own, argument, value)?;
                found.preset = Some(value.clone());
            }
            ArgumentChange::Renamed { from, to } => {
                let is_taken = arguments.iter().any(|it| it.name == *to && it.name != *from);
                let found = find(&mut arguments, from, "argument_renamed")?;
                if is_taken || to.is_empty() {
                    let why = if to.is_empty() { "is no name" } else { "is an argument already" };
                    return Err(problem(
                        from,
                        format!("it is to be renamed to `{to}`, which {why}"),
                    ));
                }
                found.name.clone_from(to);
            }
            ArgumentChange::Described { argument, text } => {
                find(&mut arguments, argument, "argument_described")?.description =
                    Some(text.clone());
            }
        }
    }
    Ok(arguments)
}

/// Makes the schema that models receive.
#[must_use]
pub fn schema(own: &Value, arguments: &[AdaptedArgument]) -> Value {
    let mut schema = own.clone();
    if arguments.iter().any(|it| it.preset.is_some() || it.own != it.name) {
        free_references(&mut schema);
        rename(&mut schema, arguments);
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        let described = arguments.iter().find(|it| it.name == *name && it.preset.is_none());
        let Some(text) = described.and_then(|it| it.description.as_ref()) else { continue };
        match property {
            Value::Object(property) => drop(property.insert("description".to_owned(), json!(text))),
            Value::Bool(true) => *property = json!({"description": text}),
            _ => {}
        }
    }
    schema.sort_all_objects();
    schema
}

fn find<'a>(
    arguments: &'a mut [AdaptedArgument],
    name: &str,
    change: &str,
) -> Result<&'a mut AdaptedArgument, SchemaProblem> {
    let names: Vec<String> = arguments
        .iter()
        .filter(|it| it.preset.is_none())
        .map(|it| format!("`{}`", it.name))
        .collect();
    match arguments.iter_mut().find(|it| it.name == name) {
        Some(found) if found.preset.is_none() => Ok(found),
        Some(_) => {
            Err(problem(name, format!("`{change}` names it, and it has a value already; keep one")))
        }
        None => {
            let choices = match names.as_slice() {
                [] => "the tool has none that could be changed".to_owned(),
                names => format!("expected one of {}", names.join(", ")),
            };
            Err(problem(name, format!("`{change}` names it, and it is no argument; {choices}")))
        }
    }
}

/// Refuses a preset value that the schema of its argument does not accept. The message leaves the value out, because it
/// may be secret.
fn fits(own: &Value, key: &str, name: &str, value: &Value) -> Result<(), SchemaProblem> {
    const OF_OTHERS: &[&str] = &[
        "required",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "minProperties",
        "unevaluatedProperties",
        "const",
        "enum",
        "$ref",
    ];
    let mut alone = own.clone();
    if let Some(alone) = alone.as_object_mut() {
        alone.retain(|keyword, _| !OF_OTHERS.contains(&keyword.as_str()));
    }
    let checker = Checker::new(&alone)?;
    let input = Value::Object(Map::from_iter([(key.to_owned(), value.clone())]));
    let Err(problems) = checker.check_input(&input.to_string()) else { return Ok(()) };
    let words = |mut problem: Problem| {
        problem.found.clear();
        problem.near = None;
        problem.to_string()
    };
    let reasons: Vec<String> = problems.into_iter().take(3).map(words).collect();
    Err(problem(name, format!("the value that it is given does not fit: {}", reasons.join("; "))))
}

/// Redirects references to the whole input or to an argument, so that they lead to a copy of the tool's own schema.
fn free_references(schema: &mut Value) {
    let is_of_root = |reference: &str| {
        reference.strip_prefix('#').is_some_and(|it| it.is_empty() || it.starts_with('/'))
            && !reference.starts_with("#/$defs/")
    };
    let mut has_any = false;
    each_reference(schema, &mut |reference| has_any |= is_of_root(reference));
    if !has_any {
        return;
    }
    let Some(root) = schema.as_object() else { return };
    let mut copy = root.clone();
    copy.remove("$defs");
    let taken = root.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let names = std::iter::once("Input".to_owned()).chain((2..).map(|it| format!("Input{it}")));
    let Some(name) = names.take(taken.len() + 2).find(|it| !taken.contains_key(it)) else { return };
    if let Some(root) = schema.as_object_mut() {
        let definitions = root.entry("$defs").or_insert_with(|| json!({}));
        if let Some(definitions) = definitions.as_object_mut() {
            definitions.insert(name.clone(), Value::Object(copy));
        }
    }
    each_reference(schema, &mut |reference| {
        if is_of_root(reference) {
            *reference = format!("#/$defs/{name}{}", &reference[1..]);
        }
    });
}

fn each_reference(schema: &mut Value, change: &mut dyn FnMut(&mut String)) {
    each_schema(schema, &mut |object| {
        if let Some(Value::String(reference)) = object.get_mut("$ref") {
            change(reference);
        }
        // `each_schema` does not visit the subschemas of `dependentSchemas`, so they are visited here.
        if let Some(Value::Object(dependents)) = object.get_mut("dependentSchemas") {
            dependents.values_mut().for_each(|it| each_reference(it, change));
        }
    });
}

/// Renames the arguments in the schema, and removes the preset arguments from the schema.
fn rename(schema: &mut Value, arguments: &[AdaptedArgument]) {
    let renaming = Renaming::new(schema.clone(), arguments);
    let Some(root) = schema.as_object_mut() else { return };
    if let Some(Value::Object(own)) = root.remove("properties") {
        let shown = own.into_iter().filter_map(|(key, it)| Some((renaming.shown(&key)?, it)));
        root.insert("properties".to_owned(), Value::Object(shown.collect()));
    }
    for keyword in ["minProperties", "maxProperties"] {
        if let Some(count) = root.get(keyword).and_then(Value::as_u64) {
            root.insert(keyword.to_owned(), json!(count.saturating_sub(renaming.presets())));
        }
    }
    renaming.root(root);
    for keyword in ["examples", "default"] {
        match root.get_mut(keyword) {
            Some(Value::Array(examples)) => examples.iter_mut().for_each(|it| renaming.value(it)),
            Some(value) => renaming.value(value),
            None => {}
        }
    }
}

fn problem(argument: &str, message: String) -> SchemaProblem {
    SchemaProblem::new(below("/properties", argument), message)
}
