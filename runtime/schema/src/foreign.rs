//! Normalises the schema of a tool that comes as JSON from an MCP server, an `OpenAPI` document or a person. A schema
//! that cannot be used is refused, with its problems.
//!
//! - The same objects are valid before and after: no object is closed, and no key becomes optional or nullable.
//! - Nothing is fetched: a reference to another document is a problem.
//! - Time, memory and stack are bounded, whatever the schema is.
//! - Notes report parts of the schema that have no effect, and parts that were left out, except for titles, identifiers
//!   and the like. A schema that no value can satisfy is a problem, unless it is one of several alternatives.

mod contradictions;
mod inlining;
mod keywords;
mod limits;
mod presets;
mod reading;
mod references;
mod report;
mod root;
mod types;

use std::fmt;

use serde_json::Value;

use self::reading::Reading;
use self::report::Report;
use toolwright_core::schema::SchemaProblem;

/// The type names that a foreign schema may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum TypeNames {
    /// The names of JSON Schema.
    #[default]
    JsonSchema,
    /// The names of JSON Schema, and names from Python, Java and JavaScript, such as `dict`, `float`, `tuple`,
    /// `HashMap` and `any`, in any case. Each of the latter is converted, with a note. A constraint that such a name
    /// implies is added to the description.
    Foreign,
}

/// A schema in the normal form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NormalizedSchema {
    /// A schema of JSON Schema 2020-12 for an object. Its references lead into its own `$defs`.
    pub schema: Value,
    /// The notes about the schema, for a person: at most a hundred.
    pub notes: Vec<Note>,
}

/// A remark about a schema that can be used nevertheless.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The location in the original schema, as a JSON pointer.
    pub pointer: String,
    /// What the schema contained at that location, and how it was changed or that it has no effect.
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.pointer, self.message)
    }
}

/// Normalises a tool's input schema.
///
/// | original | normal form |
/// | --- | --- |
/// | a root without `type` that describes an object, `{}`, `["object", "null"]` | `"type": "object"`: a call's input is an object |
/// | `$ref` to any place of the document | inlined; kept in `$defs` if it is recursive or the result would be large |
/// | `definitions`, `dependencies`, `items` as a list, `additionalItems`, boolean `exclusiveMinimum`, `divisibleBy` | the corresponding keywords of 2020-12 |
/// | `nullable: true` next to a `type` | `"null"` among the types |
/// | `example` | `examples` |
/// | `title`, `$schema`, `$id`, `$comment`, `format: int32` and the like | left out |
/// | keywords that JSON Schema does not know, `x-…` included | left out, with a note |
/// | `null` in place of a list, a number or a schema, as in `"required": null` | left out, with a note |
/// | a `default` or an example that breaks its schema | left out, with a note |
/// | an unknown `type`, a keyword with a value of the wrong kind, an invalid `pattern` | a problem |
/// | a schema that contradicts itself, as `minimum` above `maximum` | a problem; in a branch of a choice, a note |
/// | a reference to another document, to nothing, or to itself | a problem |
///
/// ```
/// use serde_json::json;
/// use toolwright::unstable::foreign::{TypeNames, input_schema};
///
/// let schema = json!({
///     "definitions": {"city": {"type": "string", "minLength": 1}},
///     "type": "object",
///     "properties": {"from": {"$ref": "#/definitions/city"}, "stops": {"type": "int"}},
///     "required": ["from"],
/// });
/// let problems = input_schema(&schema, TypeNames::JsonSchema).unwrap_err();
/// assert_eq!(
///     problems[0].to_string(),
///     r#"/properties/stops/type: type "int" is no type of JSON Schema, expected "integer""#,
/// );
///
/// let arrived = input_schema(&schema, TypeNames::Foreign).expect("`int` is an integer in Python");
/// assert_eq!(
///     arrived.schema,
///     json!({
///         "type": "object",
///         "properties": {"from": {"type": "string", "minLength": 1}, "stops": {"type": "integer"}},
///         "required": ["from"],
///     }),
/// );
/// assert_eq!(arrived.notes[0].pointer, "/properties/stops/type");
/// ```
///
/// # Errors
/// All problems, with their places in the original schema, but at most a hundred.
pub fn input_schema(
    schema: &Value,
    names: TypeNames,
) -> Result<NormalizedSchema, Vec<SchemaProblem>> {
    limits::check(schema).map_err(|problem| vec![problem])?;
    root::is_schema(schema).map_err(|problem| vec![problem])?;
    let mut report = Report::default();
    let mut converted = Reading::new(schema, names, &mut report).all();
    let graph = references::Graph::of(&converted);
    graph.judge(&converted, &mut report);
    if report.is_sound() {
        presets::check(&mut converted, &mut report);
        let mut schema = inlining::inline(converted, &graph);
        root::make_object(&mut schema, &mut report);
        if report.is_sound() {
            backstop(&schema, &mut report);
        }
        return report.conclude(schema);
    }
    report.conclude(Value::Null)
}

/// Reports a schema that the validator refuses, because calls are checked with that validator later.
fn backstop(schema: &Value, report: &mut Report) {
    if let Err(error) = jsonschema::options().build(schema) {
        report.problem(
            error.instance_path().to_string(),
            format!("{error}; expected what the meta-schema of JSON Schema 2020-12 takes"),
        );
    }
}
