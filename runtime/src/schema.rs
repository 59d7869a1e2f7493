//! From a tool's static description to its definition: schemas in their normal form, and the keys
//! that the reader looks for.

mod check;
mod exact;
mod normal;
mod words;

use std::fmt;
use std::sync::OnceLock;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::input::{Bound, Bounds, Key, Keys, Problem, Rule};
use crate::spec::{ParamSpec, Spec};
use crate::tool::{Definition, Parameter};

pub(crate) use check::Checker;
pub(crate) use normal::{is_machine_format, unwrap_docs};
pub(crate) use words::expected as in_words;

/// Why a tool has no usable schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaProblem {
    /// The place in the schema.
    pub pointer: String,
    /// What stands there and what should.
    pub message: String,
}

impl SchemaProblem {
    pub(crate) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.pointer, self.message)
    }
}

/// The definition of a tool, and the keys by which its input is read.
pub(crate) fn describe(spec: &'static Spec) -> Result<(Definition, Keys), SchemaProblem> {
    let mut definition = Definition::of(spec);
    let keys =
        if spec.whole { whole(spec, &mut definition)? } else { parameters(spec, &mut definition)? };
    definition.output_schema = (spec.output)().map(|schema| {
        let mut generator =
            SchemaSettings::draft2020_12().with(inlined).for_serialize().into_generator();
        let output = Value::from(schema(&mut generator));
        normal::rooted(output, definitions(&mut generator))
    });
    Ok((definition, keys))
}

fn inlined(settings: &mut SchemaSettings) {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
}

fn definitions(generator: &mut SchemaGenerator) -> Map<String, Value> {
    generator.take_definitions(true)
}

/// Each parameter a property.
fn parameters(spec: &'static Spec, definition: &mut Definition) -> Result<Keys, SchemaProblem> {
    let mut generator = SchemaSettings::draft2020_12().with(inlined).into_generator();
    let written: Vec<Value> =
        spec.parameters.iter().map(|it| Value::from((it.schema)(&mut generator))).collect();
    let raw_definitions = definitions(&mut generator);
    let shared = normal::definitions(raw_definitions.clone());
    let mut keys = Vec::with_capacity(written.len());
    for (parameter, raw) in spec.parameters.iter().zip(written) {
        let exact = parameter.bounds.pattern.is_none() && exact::is_exact(&raw, &raw_definitions);
        let optional = (parameter.optional)();
        let mut schema = normal::normalise(raw);
        if optional {
            normal::strip_null(&mut schema);
        }
        annotate(&mut schema, parameter);
        presets_hold(parameter, &schema, &shared)?;
        let required = !optional && parameter.default.is_none();
        let expected = words::expected(&schema);
        let mut key = if required {
            Key::required(parameter.name, expected)
        } else {
            Key::optional(parameter.name, expected)
        };
        if !exact {
            let pointer = format!("/properties/{}", parameter.name);
            key = key.checked(checker(&pointer, &schema, &shared)?);
        } else if exact::names_keys(&schema, &shared) {
            key = key.checked_when_loose(late_checker(&schema, &shared));
        }
        keys.push(key);
        definition.parameters.push(Parameter {
            name: parameter.name.to_owned(),
            description: unwrap_docs(parameter.docs),
            schema,
            required,
            aliases: parameter.aliases,
            secret: parameter.secret,
            short: parameter.short,
            positional: parameter.positional,
        });
    }
    definition.input_schema = object(&definition.parameters, shared);
    Keys::new(keys).map_err(|problem| SchemaProblem::new("/properties", problem.to_string()))
}

/// One type is the whole input.
fn whole(spec: &'static Spec, definition: &mut Definition) -> Result<Keys, SchemaProblem> {
    let [parameter] = spec.parameters else {
        return Err(SchemaProblem::new("", "the whole input is one parameter"));
    };
    let mut generator = SchemaSettings::draft2020_12().with(inlined).into_generator();
    let raw = Value::from((parameter.schema)(&mut generator));
    let raw_definitions = definitions(&mut generator);
    let exact = exact::is_exact(&raw, &raw_definitions);
    let schema = normal::rooted(raw, raw_definitions);
    if schema.get("type") != Some(&Value::from("object")) {
        let found = words::expected(&schema);
        let message = format!(
            "the input of a tool is an object, the type of `{}` is {found}",
            parameter.name
        );
        return Err(SchemaProblem::new("/type", message));
    }
    let mut key = Key::required(parameter.name, "an object");
    key = if exact {
        key.checked_when_loose(late_checker(&schema, &Map::new()))
    } else {
        key.checked(checker("", &schema, &Map::new())?)
    };
    definition.input_schema = schema;
    Keys::new([key]).map_err(|problem| SchemaProblem::new("/properties", problem.to_string()))
}

/// Sees to it that the default and the examples are what the schema asks for.
fn presets_hold(
    parameter: &ParamSpec,
    schema: &Value,
    shared: &Map<String, Value>,
) -> Result<(), SchemaProblem> {
    let default = schema.get("default").map(|default| ("default", default));
    let examples = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
    let presets: Vec<_> = default.into_iter().chain(examples.map(|it| ("example", it))).collect();
    if presets.is_empty() {
        return Ok(());
    }
    let pointer = format!("/properties/{}", parameter.name);
    let checker = standalone(&pointer, schema, shared)?;
    for (what, value) in presets {
        if let Err(problems) = checker.check(value) {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            let message = format!("the {what} {value} breaks the schema: {}", problems.join("; "));
            return Err(SchemaProblem::new(pointer, message));
        }
    }
    Ok(())
}

/// A checker that few calls need, made when the first of them comes.
fn late_checker(
    schema: &Value,
    shared: &Map<String, Value>,
) -> impl Fn(&str) -> Result<(), Vec<Problem>> + Send + Sync + 'static {
    let (schema, shared, made) = (schema.clone(), shared.clone(), OnceLock::new());
    move |text: &str| match made.get_or_init(|| standalone("", &schema, &shared)) {
        Ok(checker) => checker.check_text(text),
        Err(problem) => Err(vec![Problem::new(Rule::Other, text, problem.to_string())]),
    }
}

/// A checker of one parameter's schema, with the definitions that it refers to.
fn standalone(
    pointer: &str,
    schema: &Value,
    shared: &Map<String, Value>,
) -> Result<Checker, SchemaProblem> {
    let mut schema = schema.clone();
    if let (Some(object), false) = (schema.as_object_mut(), shared.is_empty()) {
        object.insert("$defs".into(), Value::Object(shared.clone()));
    }
    Checker::new(&schema).map_err(|message| SchemaProblem::new(pointer, message))
}

fn checker(
    pointer: &str,
    schema: &Value,
    shared: &Map<String, Value>,
) -> Result<impl Fn(&str) -> Result<(), Vec<Problem>> + Send + Sync + 'static, SchemaProblem> {
    let checker = standalone(pointer, schema, shared)?;
    Ok(move |text: &str| checker.check_text(text))
}

fn object(parameters: &[Parameter], shared: Map<String, Value>) -> Value {
    let properties: Map<String, Value> =
        parameters.iter().map(|it| (it.name.clone(), it.schema.clone())).collect();
    let required: Vec<&str> =
        parameters.iter().filter(|it| it.required).map(|it| it.name.as_str()).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    if !shared.is_empty() {
        schema["$defs"] = Value::Object(shared);
    }
    schema
}

/// What the parameter's attribute adds to the schema of its type.
fn annotate(schema: &mut Value, parameter: &ParamSpec) {
    if !schema.is_object() {
        *schema = json!({});
    }
    let description = unwrap_docs(parameter.docs);
    if !description.is_empty() {
        schema["description"] = description.into();
    }
    bounds(schema, &parameter.bounds);
    if let Some(default) = parameter.default {
        schema["default"] = default();
    }
    if !parameter.examples.is_empty() {
        schema["examples"] = parameter.examples.iter().map(|example| example()).collect();
    }
}

fn bounds(schema: &mut Value, bounds: &Bounds) {
    let (shortest, longest) = match schema.get("type").and_then(Value::as_str) {
        Some("array") => ("minItems", "maxItems"),
        Some("object") => ("minProperties", "maxProperties"),
        _ => ("minLength", "maxLength"),
    };
    let number = |bound: Bound| match bound {
        Bound::Integer(integer) => i64::try_from(integer)
            .map(Value::from)
            .or_else(|_| u64::try_from(integer).map(Value::from))
            .unwrap_or_else(|_| json!(integer as f64)),
        Bound::Float(float) => json!(float),
    };
    let additions = [
        ("minimum", bounds.minimum.map(number)),
        ("maximum", bounds.maximum.map(number)),
        (shortest, bounds.shortest.map(Value::from)),
        (longest, bounds.longest.map(Value::from)),
        ("pattern", bounds.pattern.map(Value::from)),
    ];
    for (keyword, value) in additions {
        if let Some(value) = value {
            schema[keyword] = value;
        }
    }
}
