//! Reads a line as a tool: `{"name", "description", "input_schema"}`, or the form in which a provider's API has a tool.

mod order;

use std::fmt;

use clap::{Arg, ArgMatches};
use serde_json::error::Category;
use serde_json::{Map, Value};
use toolwright::unstable::foreign::TypeNames;

/// The keys that hold the schema: ours and Anthropic's, MCP's, `OpenAI`'s, Gemini's.
const SCHEMA_KEYS: [&str; 4] =
    ["input_schema", "inputSchema", "parameters", "parametersJsonSchema"];

const TYPES: &str = "types";

/// Declares the argument that says which names of types a schema may use.
pub(crate) fn types() -> Arg {
    Arg::new(TYPES)
        .long("types")
        .value_name("NAMES")
        .default_value("json-schema")
        .value_parser(["json-schema", "foreign"])
        .help("Whose names of types are understood; `foreign` takes dict, float, HashMap and so on")
}

pub(crate) fn names(matches: &ArgMatches) -> TypeNames {
    match matches.get_one::<String>(TYPES).map(String::as_str) {
        Some("foreign") => TypeNames::Foreign,
        _ => TypeNames::JsonSchema,
    }
}

#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
    /// The names of the properties, in the order in which the schema lists them.
    pub(crate) order: Vec<String>,
}

/// Why a line is not a tool.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoTool {
    Syntax(String),
    NoObject,
    /// A key is missing or has the wrong type: the name of the key, and what was expected.
    Key(&'static str, &'static str),
    NoSchema,
    TwoSchemas(&'static str, &'static str),
}

impl Tool {
    pub(crate) fn of(line: &[u8]) -> Result<Self, NoTool> {
        let value: Value =
            serde_json::from_slice(line).map_err(|error| NoTool::Syntax(in_line(&error)))?;
        let Value::Object(mut object) = value else { return Err(NoTool::NoObject) };
        // Chat Completions wraps the tool in `function`.
        if let Some(Value::Object(function)) = object.get_mut("function") {
            object = std::mem::take(function);
        }
        let name = text(&mut object, "name")?
            .filter(|name| !name.is_empty())
            .ok_or(NoTool::Key("name", "the tool's name as a string"))?;
        let title = text(&mut object, "title")?;
        let description = text(&mut object, "description")?.unwrap_or_default();
        let mut schemas = SCHEMA_KEYS.into_iter().filter(|key| object.contains_key(*key));
        let key = schemas.next().ok_or(NoTool::NoSchema)?;
        if let Some(other) = schemas.next() {
            return Err(NoTool::TwoSchemas(key, other));
        }
        let input_schema = object.remove(key).ok_or(NoTool::NoSchema)?;
        Ok(Self { name, title, description, input_schema, order: order::of(line) })
    }
}

/// Describes why a line could not be read, with the column.
pub(crate) fn in_line(error: &serde_json::Error) -> String {
    let column = error.column();
    // serde_json has no category for these two errors, so the text of the error tells them apart.
    let said = error.to_string();
    if said.starts_with("number out of range") {
        return format!("the number before column {column} is out of range");
    }
    if said.starts_with("recursion limit exceeded") {
        return format!("arrays and objects are nested too deep at column {column}");
    }
    match error.classify() {
        Category::Eof => format!("it ends at column {column} in the middle of a value"),
        Category::Data => {
            format!("a key is there twice, or holds something else, before column {column}")
        }
        Category::Syntax | Category::Io => {
            format!("the text at column {column} is no JSON value")
        }
    }
}

fn text(object: &mut Map<String, Value>, key: &'static str) -> Result<Option<String>, NoTool> {
    match object.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(NoTool::Key(key, "a string")),
    }
}

/// Reads the name of a line that is not a tool otherwise, so that a person finds the line.
pub(crate) fn name_of(line: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(line).ok()?;
    let tool = value.get("function").unwrap_or(&value);
    tool.get("name")?.as_str().map(str::to_owned)
}

impl fmt::Display for NoTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => write!(
                formatter,
                "the line is not JSON: {error}; write each tool as one JSON object on a line of its own"
            ),
            Self::NoObject => formatter.write_str(
                "the line is not an object, expected {\"name\", \"description\", \"input_schema\"}",
            ),
            Self::Key(key, expected) => {
                write!(formatter, "`{key}` is missing or something else, expected {expected}")
            }
            Self::NoSchema => write!(
                formatter,
                "the tool has no schema, expected one under `{}`; a tool without input has {{}}",
                SCHEMA_KEYS.join("`, `")
            ),
            Self::TwoSchemas(one, other) => write!(
                formatter,
                "the tool has a schema under `{one}` and one under `{other}`; leave one out"
            ),
        }
    }
}
