//! The arguments of a tool, and their places in the request. The schema of the input is made from the parameters and
//! the body. The functions are pure.

use serde_json::{Map, Value, json};

use crate::body::{Body, BodyKind};
use crate::document::{Document, LocatedValue};
use crate::names::{self, Names};
use crate::operation::{FoundOperation, Parameter, Place, Style, header_key};
use crate::refusal::Refusal;
use crate::schema::{Direction, Schemas};
use crate::security::Requirement;

/// Headers by which a server recognizes a repeated request.
const IDEMPOTENCY: [&str; 3] = ["idempotency-key", "x-idempotency-key", "idempotencykey"];

/// The input of a tool: its schema and its arguments.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) arguments: Vec<Argument>,
    /// How the body is encoded, if the operation has one.
    pub(crate) body: Option<BodyKind>,
    pub(crate) body_is_required: bool,
    /// The schema that is made from the document, and that the runtime normalizes later.
    pub(crate) schema: Value,
    /// The header that carries the idempotency key of the call.
    pub(crate) key_header: Option<String>,
}

/// One argument and its place in the request.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    /// The name of the argument that models use.
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) required: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Target {
    /// A parameter of the request, with its name in the document.
    Parameter { place: Place, name: String, style: Style },
    /// A field of the body, with the field's name in the document.
    Field(String),
    /// The whole body as one argument.
    Body,
}

impl Input {
    /// Reads the parameters and the body of an operation, and makes the input of its tool.
    pub(crate) fn read(
        document: &Document,
        found: &FoundOperation<'_>,
        requirements: &[Requirement],
    ) -> Result<Self, Refusal> {
        let mut schemas = Schemas::new(document, Direction::Request);
        let (mut parameters, mut key_header) = (found.parameters(document)?, None);
        parameters.retain(|it| {
            let is_key =
                it.place == Place::Header && IDEMPOTENCY.contains(&header_key(it.name).as_str());
            if is_key {
                key_header = Some(it.name.to_owned());
            }
            // A credential is not an argument, although some documents also list it as a parameter.
            let is_credential =
                requirements.iter().flatten().any(|scheme| scheme.is_in(it.place, it.name));
            !is_key && !is_credential
        });
        let body = Body::read(document, found)?;
        let body_is_required = body.as_ref().is_some_and(|it| it.required);
        let mut properties = Properties::default();
        for parameter in &parameters {
            let twice = parameters.iter().filter(|it| it.name == parameter.name).count() > 1;
            let name = match twice {
                true => format!("{}_{}", parameter.place.name(), parameter.name),
                false => parameter.name.to_owned(),
            };
            let schema = of_parameter(&mut schemas, parameter)?;
            let target = Target::Parameter {
                place: parameter.place,
                name: parameter.name.to_owned(),
                style: parameter.style,
            };
            properties.add(&name, target, schema, parameter.required);
        }
        let kind = match body {
            Some(body) => Some(add_body(&mut schemas, &mut properties, document, body)?),
            None => None,
        };
        let definitions = schemas.definitions()?;
        let Properties { arguments, schemas: properties, .. } = properties;
        let required: Vec<&String> =
            arguments.iter().filter(|it| it.required).map(|it| &it.name).collect();
        let mut schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        if !definitions.is_empty() {
            schema["$defs"] = Value::Object(definitions);
        }
        Ok(Self { arguments, body: kind, body_is_required, schema, key_header })
    }

    /// Returns whether one of the arguments provides this parameter of the path.
    pub(crate) fn fills_path(&self, parameter: &str) -> bool {
        self.arguments.iter().any(|it| {
            matches!(&it.target, Target::Parameter { place: Place::Path, name, .. } if name == parameter)
        })
    }
}

/// The properties of the input, each with its argument.
#[derive(Default)]
struct Properties {
    arguments: Vec<Argument>,
    schemas: Map<String, Value>,
    names: Names,
}

impl Properties {
    fn add(&mut self, name: &str, target: Target, schema: Value, required: bool) {
        // Keep a name that is unused and valid. Argument names may contain a `.`, unlike names of tools.
        let stays = names::is_fitting(name) && self.names.take(name);
        let name = if stays { name.to_owned() } else { self.names.of(name) };
        self.schemas.insert(name.clone(), schema);
        self.arguments.push(Argument { name, target, required });
    }
}

fn of_parameter<'d>(
    schemas: &mut Schemas<'d>,
    parameter: &Parameter<'d>,
) -> Result<Value, Refusal> {
    let mut schema = match &parameter.schema {
        Some(schema) => schemas.copy(schema)?,
        None => json!({"type": "string"}),
    };
    if let (Value::Object(schema), Some(text)) = (&mut schema, parameter.at.text("description")) {
        schema.insert("description".to_owned(), json!(text.trim()));
    }
    if let (Value::Object(schema), Some(example)) = (&mut schema, parameter.at.value.get("example"))
    {
        schema.insert("examples".to_owned(), json!([example]));
    }
    Ok(schema)
}

/// Adds the fields of the body as arguments, if the body has fields and no parameter has the name of one of them.
/// Otherwise adds the whole body as one argument.
fn add_body<'d>(
    schemas: &mut Schemas<'d>,
    properties: &mut Properties,
    document: &'d Document,
    body: Body<'d>,
) -> Result<BodyKind, Refusal> {
    let fields = match &body.schema {
        Some(schema) if body.kind.has_fields() => flat_fields(document, schema, body.required)?,
        _ => None,
    };
    let is_free = |name: &str| !properties.schemas.contains_key(name);
    if let Some(fields) = fields.filter(|it| it.iter().all(|(name, _, _)| is_free(name))) {
        for (name, schema, required) in fields {
            let mut copied = schemas.copy(&schema)?;
            body.kind.adjust(name, &schema, &mut copied);
            properties.add(name, Target::Field(name.to_owned()), copied, required);
        }
        return Ok(body.kind);
    }
    let mut schema = match (&body.schema, &body.kind) {
        (_, BodyKind::Text { .. }) => json!({"type": "string"}),
        (_, BodyKind::Binary { .. }) => json!({"type": "string", "contentEncoding": "base64"}),
        (Some(schema), _) => schemas.copy(schema)?,
        (None, _) => json!({}),
    };
    if let Value::Object(schema) = &mut schema {
        let said = schema.get("description").and_then(Value::as_str).or(body.description);
        let words = format!("{} {}", said.unwrap_or_default().trim(), body.kind.words());
        schema.insert("description".to_owned(), json!(words.trim()));
    }
    let name = if is_free("body") { "body" } else { "request_body" };
    properties.add(name, Target::Body, schema, body.required);
    Ok(body.kind)
}

/// A field of the body: its name, its schema, and whether it is required.
type Field<'d> = (&'d str, LocatedValue<'d>, bool);

/// Returns the fields of a schema that describes only an object with named fields. Returns `None` for a map with
/// arbitrary keys. Also returns `None` for an optional body with required fields, because a call without fields could
/// mean either no body or an invalid body.
fn flat_fields<'d>(
    document: &'d Document,
    schema: &LocatedValue<'d>,
    body_required: bool,
) -> Result<Option<Vec<Field<'d>>>, Refusal> {
    const MORE_THAN_FIELDS: [&str; 14] = [
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "enum",
        "const",
        "patternProperties",
        "propertyNames",
        "dependentRequired",
        "dependentSchemas",
        "minProperties",
        "maxProperties",
        "unevaluatedProperties",
    ];
    let schema = document.follow(schema.clone())?;
    let Some(object) = schema.value.as_object() else { return Ok(None) };
    let is_open = object.get("additionalProperties").is_some_and(|it| *it != Value::Bool(false));
    let is_object = object.get("type").is_none_or(|it| it == "object");
    if is_open || !is_object || MORE_THAN_FIELDS.iter().any(|it| object.contains_key(*it)) {
        return Ok(None);
    }
    let required: Vec<&str> = object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").map(|it| it.entries()).unwrap_or_default();
    let mut fields = Vec::new();
    for (name, property) in properties {
        if property.says("readOnly") || document.follow(property.clone())?.says("readOnly") {
            continue;
        }
        fields.push((name, property, required.contains(&name)));
    }
    let says_which = body_required || fields.iter().all(|(_, _, required)| !required);
    Ok(Some(fields).filter(|it| !it.is_empty() && says_which))
}
