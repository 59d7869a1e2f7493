//! Makes a tool's definition from its static description: the schemas in normal form, and the keys with which the input
//! is read.

mod check;
mod exact;
mod explain;
mod key_range;
mod limits;
mod map_keys;
mod names;
mod normal;
mod nulls;
mod odd;
mod opening;
mod os_text;
mod presets;
mod probe;
mod problems;
mod sample;
#[cfg(test)]
mod tests;
mod trial;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Number, Value, json};

use toolwright_core::input::{Bound, Bounds, Key, Keys, VisitedTypes};
use toolwright_core::scalar::Scalars;
use toolwright_core::spec::{ParamSpec, SchemaOf, Spec};
use toolwright_core::tool::{Definition, Parameter};

pub(crate) use check::options;
#[doc(hidden)]
pub use check::{Checker, has_long_places};
pub(crate) use explain::{Depth, Explainer};
pub(crate) use normal::is_machine_format;
use toolwright_core::schema::{SchemaProblem, in_words, unwrap_docs};

/// Returns the definition of a tool, and the keys with which its input is read.
#[doc(hidden)]
pub fn describe(spec: &'static Spec) -> Result<(Definition, Keys), SchemaProblem> {
    let mut definition = Definition::of(spec);
    let keys =
        if spec.whole { whole(spec, &mut definition)? } else { parameters(spec, &mut definition)? };
    definition.output_schema = (spec.output)().map(output).transpose()?;
    // `serde_json` may preserve the order of keys, because any crate of the build can enable its feature
    // `preserve_order`.
    definition.input_schema.sort_all_objects();
    if let Some(schema) = &mut definition.output_schema {
        schema.sort_all_objects();
    }
    Ok((definition, keys))
}

fn output(schema: SchemaOf) -> Result<Value, SchemaProblem> {
    let mut generator =
        SchemaSettings::draft2020_12().with(inlined).for_serialize().into_generator();
    let raw = limits::tighten(Value::from(schema(&mut generator)));
    let definitions = definitions(&mut generator);
    os_text::refuse(&raw, &definitions).map_err(of_output)?;
    let derived = exact::is_exact(&raw, &definitions);
    let mut schema = normal::make_root(raw, definitions);
    normal::strip_all_nulls(&mut schema);
    normal::refer(&mut schema);
    // A derived schema is always valid. A schema that was changed by attributes may be invalid.
    if !derived {
        Checker::new(&schema).map_err(of_output)?;
    }
    Ok(schema)
}

fn of_output(problem: SchemaProblem) -> SchemaProblem {
    SchemaProblem { message: format!("of the output: {}", problem.message), ..problem }
}

fn inlined(settings: &mut SchemaSettings) {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
}

fn definitions(generator: &mut SchemaGenerator) -> Map<String, Value> {
    limits::tighten_all(generator.take_definitions(true))
}

/// Describes an input whose keys are the tool's parameters.
fn parameters(spec: &'static Spec, definition: &mut Definition) -> Result<Keys, SchemaProblem> {
    let mut generator = SchemaSettings::draft2020_12().with(inlined).into_generator();
    let written: Vec<Value> = spec
        .parameters
        .iter()
        .map(|it| limits::tighten(Value::from((it.schema)(&mut generator))))
        .collect();
    let raw_definitions = definitions(&mut generator);
    let mut shared = normal::definitions(raw_definitions.clone());
    let mut keys = Vec::with_capacity(written.len());
    for (parameter, raw) in spec.parameters.iter().zip(written) {
        let within = |problem: SchemaProblem| problem.within(parameter.name);
        os_text::refuse(&raw, &raw_definitions).map_err(within)?;
        let derived = exact::is_exact(&raw, &raw_definitions);
        let optional = trial::is_optional(parameter.optional).map_err(within)?;
        let mut schema = normal::normalise(raw);
        // If the type inside of an option accepts `null` too, `null` is a value and remains in the schema.
        if optional && !trial::takes(parameter.probe, "null").map_err(within)? {
            normal::strip_null(&mut schema);
        }
        let mut document = joined(schema, &shared);
        nulls::settle(&mut document, parameter.probe).map_err(within)?;
        limits::can_be_said(&document).map_err(within)?;
        let agreed = (derived && is_known(parameter))
            || probe::agree(&mut document, parameter.probe).map_err(within)?;
        annotate(&mut document, parameter, optional).map_err(within)?;
        presets::settle(&mut document).map_err(within)?;
        let is_read_alone = derived && agreed && parameter.bounds.pattern.is_none();
        let check =
            if is_read_alone { None } else { Some(Checker::new(&document).map_err(within)?) };
        let expected = in_words(&document, &document);
        let schema = parted(document, &mut shared);
        let required = !optional && parameter.default.is_none();
        let mut key = if required {
            Key::required(parameter.name, expected)
        } else {
            Key::optional(parameter.name, expected)
        };
        key = key.with_scalars(Scalars::of(&schema).filter(|_| check.is_none()));
        if let Some(check) = check {
            key = key.checked(move |text: &str| check.check_input(text));
        }
        keys.push(key);
        definition.parameters.push(Parameter::of(parameter, schema, required));
    }
    definition.input_schema = object(&definition.parameters, shared);
    normal::refer(&mut definition.input_schema);
    Keys::new(keys).map_err(|problem| SchemaProblem::new("/properties", problem.to_string()))
}

/// Returns whether a type is known to accept exactly the values that its schema accepts, so that no samples have to be
/// tested.
fn is_known(parameter: &ParamSpec) -> bool {
    (parameter.is_known)(&mut VisitedTypes::default())
}

/// Returns a schema with the shared definitions that its references may need.
fn joined(mut schema: Value, shared: &Map<String, Value>) -> Value {
    if !schema.is_object() {
        schema = json!({});
    }
    if !shared.is_empty() {
        schema["$defs"] = Value::Object(shared.clone());
    }
    schema
}

/// Separates a document into its schema, which is returned, and its definitions. The definitions replace the shared
/// ones, because they may have been corrected.
fn parted(mut document: Value, shared: &mut Map<String, Value>) -> Value {
    if let Some(Value::Object(definitions)) =
        document.as_object_mut().and_then(|it| it.remove("$defs"))
    {
        *shared = definitions;
    }
    document
}

/// Describes an input that is a value of one type.
fn whole(spec: &'static Spec, definition: &mut Definition) -> Result<Keys, SchemaProblem> {
    let [parameter] = spec.parameters else {
        return Err(SchemaProblem::new("", "the whole input is one parameter"));
    };
    let mut generator = SchemaSettings::draft2020_12().with(inlined).into_generator();
    let raw = limits::tighten(Value::from((parameter.schema)(&mut generator)));
    let raw_definitions = definitions(&mut generator);
    os_text::refuse(&raw, &raw_definitions)?;
    let derived = exact::is_exact(&raw, &raw_definitions);
    let mut schema = normal::make_root(raw, raw_definitions);
    if schema.get("type") != Some(&Value::from("object")) {
        let found = in_words(&schema, &schema);
        let message = format!(
            "the input of a tool is an object, the type of `{}` is {found}",
            parameter.name
        );
        return Err(SchemaProblem::new("/type", message));
    }
    let mut key = Key::required(parameter.name, "an object");
    nulls::settle(&mut schema, parameter.probe)?;
    limits::can_be_said(&schema)?;
    let agreed = (derived && is_known(parameter)) || probe::agree(&mut schema, parameter.probe)?;
    presets::settle(&mut schema)?;
    if !(derived && agreed) {
        let check = Checker::new(&schema)?;
        key = key.checked(move |text: &str| check.check_input(text));
    }
    normal::refer(&mut schema);
    definition.input_schema = schema;
    Keys::new([key]).map_err(|problem| SchemaProblem::new("/properties", problem.to_string()))
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

/// Adds the description, limits, default and examples of a parameter to the schema of its type.
fn annotate(
    schema: &mut Value,
    parameter: &ParamSpec,
    optional: bool,
) -> Result<(), SchemaProblem> {
    let description = unwrap_docs(parameter.docs);
    if !description.is_empty() {
        schema["description"] = description.into();
    }
    bounds(schema, &parameter.bounds);
    if let Some(default) = parameter.default {
        let mut default = presets::constant("default", default)?;
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            presets::sort(&mut default);
        }
        // An absent key already means `None`. As a default, `null` would be filled in, and then be refused or mean
        // another value.
        if !(optional && default.is_null()) {
            schema["default"] = default;
        }
    }
    if !parameter.examples.is_empty() {
        let examples = parameter.examples.iter().map(|it| presets::constant("example", *it));
        schema["examples"] = examples.collect::<Result<_, _>>()?;
    }
    Ok(())
}

fn bounds(schema: &mut Value, bounds: &Bounds) {
    let Value::Object(object) = schema else { return };
    let (shortest, longest) = match object.get("type").and_then(first_type) {
        Some("array") => ("minItems", "maxItems"),
        Some("object") => ("minProperties", "maxProperties"),
        _ => ("minLength", "maxLength"),
    };
    let numbers = [("minimum", bounds.minimum), ("maximum", bounds.maximum)];
    for (keyword, bound) in numbers {
        if let Some(limit) = bound.and_then(number) {
            limits::narrow(object, keyword, limit);
        }
    }
    let additions = [
        (shortest, bounds.shortest.map(Value::from)),
        (longest, bounds.longest.map(Value::from)),
        ("pattern", bounds.pattern.map(Value::from)),
    ];
    for (keyword, value) in additions {
        if let Some(value) = value {
            object.insert(keyword.to_owned(), value);
        }
    }
}

/// Returns the first type in a schema's `type` that is not `null`.
fn first_type(types: &Value) -> Option<&str> {
    match types {
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|it| *it != "null"),
        only => only.as_str(),
    }
}

/// Converts a limit to a JSON number; `None` if the limit is infinite.
fn number(bound: Bound) -> Option<Value> {
    let float = |float| Number::from_f64(float).map(Value::Number);
    match bound {
        Bound::Integer(integer) => i64::try_from(integer)
            .map(Value::from)
            .or_else(|_| u64::try_from(integer).map(Value::from))
            .ok()
            .or_else(|| float(integer as f64)),
        Bound::Float(_) | Bound::Single(_) => float(bound.as_float()),
    }
}
