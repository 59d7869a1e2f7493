//! A tool's parameters as flags and positionals, and what was typed as the tool's JSON input. The
//! input then goes the way of any other: the same checks, the same messages.

use std::io::Read;

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::{Map, Value};

use crate::tool::{Definition, Parameter};

/// The flag that carries the whole input; no parameter can have this name.
pub(super) const WHOLE: &str = "\0json";

/// How a parameter is typed.
enum Shape {
    Flag,
    Number,
    Text,
    List,
    Json,
}

impl Shape {
    fn of(schema: &Value) -> Self {
        match schema.get("type").and_then(Value::as_str) {
            Some("boolean") => Self::Flag,
            Some("integer" | "number") => Self::Number,
            Some("string") => Self::Text,
            Some("array") => Self::List,
            _ if schema.get("enum").is_some() => Self::Text,
            _ => Self::Json,
        }
    }

    fn placeholder(&self) -> &'static str {
        match self {
            Self::Flag => "BOOL",
            Self::Number => "NUMBER",
            Self::Text => "TEXT",
            Self::List => "ITEM",
            Self::Json => "JSON",
        }
    }
}

pub(super) fn of(definition: &Definition) -> impl Iterator<Item = Arg> {
    definition.parameters.iter().filter(|it| !has_no_flag(it)).map(argument)
}

/// Parameters whose flag would be one that every command has; they are given by `--json` alone.
pub(super) fn has_no_flag(parameter: &Parameter) -> bool {
    ["help", "json"].contains(&flag(parameter).as_str()) && !is_positional(parameter)
}

fn flag(parameter: &Parameter) -> String {
    parameter.name.replace(['_', '.'], "-").trim_start_matches('-').to_owned()
}

fn is_positional(parameter: &Parameter) -> bool {
    let is_scalar = matches!(Shape::of(&parameter.schema), Shape::Number | Shape::Text);
    parameter.positional || (parameter.required && is_scalar && parameter.short.is_none())
}

fn argument(parameter: &Parameter) -> Arg {
    let shape = Shape::of(&parameter.schema);
    let argument = Arg::new(parameter.name.clone())
        .help(parameter.description.clone())
        .value_name(shape.placeholder())
        // A number below zero is a value, not a flag.
        .allow_hyphen_values(true);
    if is_positional(parameter) {
        let argument = argument.value_name(parameter.name.to_uppercase());
        return if matches!(shape, Shape::List) { argument.num_args(0..) } else { argument };
    }
    let argument = argument.long(flag(parameter));
    let argument = match parameter.short {
        Some(letter) => argument.short(letter),
        None => argument,
    };
    match shape {
        Shape::Flag => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
        Shape::List => argument.action(ArgAction::Append),
        _ => argument,
    }
}

/// The JSON text of what was typed.
pub(super) fn input(definition: &Definition, matches: &ArgMatches) -> Result<String, String> {
    let typed =
        |parameter: &&Parameter| !has_no_flag(parameter) && matches.contains_id(&parameter.name);
    if let Some(whole) = matches.get_one::<String>(WHOLE) {
        return match definition.parameters.iter().find(typed) {
            Some(parameter) => {
                Err(format!("`--json` is the whole input; leave out `{}`", parameter.name))
            }
            None if whole == "-" => standard_input(),
            None => Ok(whole.clone()),
        };
    }
    let mut input = Map::new();
    for parameter in definition.parameters.iter().filter(typed) {
        let values = || matches.get_many::<String>(&parameter.name).into_iter().flatten();
        let value = match Shape::of(&parameter.schema) {
            Shape::List => {
                let item = parameter.schema.get("items").map_or(Shape::Json, Shape::of);
                Value::Array(values().map(|text| value(&item, text)).collect())
            }
            shape => values().next().map_or(Value::Null, |text| value(&shape, text)),
        };
        input.insert(parameter.name.clone(), value);
    }
    Ok(Value::Object(input).to_string())
}

/// What does not look like its type stays text, which the tool's own check then refuses.
fn value(shape: &Shape, text: &str) -> Value {
    match shape {
        Shape::Text => Value::from(text),
        Shape::Flag | Shape::Number | Shape::List | Shape::Json => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
        }
    }
}

fn standard_input() -> Result<String, String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map(|_| text)
        .map_err(|error| format!("standard input could not be read: {error}"))
}
