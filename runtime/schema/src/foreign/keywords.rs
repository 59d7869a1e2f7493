//! The keywords of JSON Schema 2020-12 that the normal form may contain, and the form of their values.

use serde_json::Value;

/// The form of a keyword's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Schema,
    SchemaList,
    SchemaMap,
    /// The value is a map from regular expressions to schemas.
    PatternMap,
    /// The value is a count: an integer of at least 0.
    Count,
    Number,
    /// A number above 0.
    Step,
    Flag,
    Text,
    Pattern,
    Names,
    NamesMap,
    Values,
    Value,
}

impl Shape {
    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Schema => "a schema",
            Self::SchemaList => "a list of schemas",
            Self::SchemaMap => "an object of schemas by name",
            Self::PatternMap => "an object of schemas by regular expression",
            Self::Count => "a whole number from 0 on",
            Self::Number => "a number",
            Self::Step => "a number above 0",
            Self::Flag => "true or false",
            Self::Text => "a string",
            Self::Pattern => "a regular expression as a string",
            Self::Names => "a list of property names",
            Self::NamesMap => "an object of lists of property names",
            Self::Values => "a list of values",
            Self::Value => "a value",
        }
    }
}

/// The keywords that decide which values are valid. `type`, `$ref` and the keywords of older drafts are missing,
/// because each of them is handled separately.
const ASSERTIONS: &[(&str, Shape)] = &[
    ("properties", Shape::SchemaMap),
    ("required", Shape::Names),
    ("additionalProperties", Shape::Schema),
    ("patternProperties", Shape::PatternMap),
    ("propertyNames", Shape::Schema),
    ("minProperties", Shape::Count),
    ("maxProperties", Shape::Count),
    ("dependentRequired", Shape::NamesMap),
    ("dependentSchemas", Shape::SchemaMap),
    ("unevaluatedProperties", Shape::Schema),
    ("items", Shape::Schema),
    ("prefixItems", Shape::SchemaList),
    ("contains", Shape::Schema),
    ("minContains", Shape::Count),
    ("maxContains", Shape::Count),
    ("minItems", Shape::Count),
    ("maxItems", Shape::Count),
    ("uniqueItems", Shape::Flag),
    ("unevaluatedItems", Shape::Schema),
    ("minLength", Shape::Count),
    ("maxLength", Shape::Count),
    ("pattern", Shape::Pattern),
    ("minimum", Shape::Number),
    ("maximum", Shape::Number),
    ("exclusiveMinimum", Shape::Number),
    ("exclusiveMaximum", Shape::Number),
    ("multipleOf", Shape::Step),
    ("enum", Shape::Values),
    ("const", Shape::Value),
    ("anyOf", Shape::SchemaList),
    ("oneOf", Shape::SchemaList),
    ("allOf", Shape::SchemaList),
    ("not", Shape::Schema),
    ("if", Shape::Schema),
    ("then", Shape::Schema),
    ("else", Shape::Schema),
];

/// The keywords that only describe a value, so that no value violates them.
const ANNOTATIONS: &[(&str, Shape)] = &[
    ("description", Shape::Text),
    ("default", Shape::Value),
    ("examples", Shape::Values),
    ("deprecated", Shape::Flag),
    ("readOnly", Shape::Flag),
    ("writeOnly", Shape::Flag),
    ("format", Shape::Text),
    ("contentEncoding", Shape::Text),
    ("contentMediaType", Shape::Text),
    ("contentSchema", Shape::Schema),
];

/// The keywords that the normal form leaves out without a note, because they do not constrain values.
const IDENTITY: &[&str] = &[
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$vocabulary",
    "$comment",
    "title",
    // The definitions under these keys are read when a reference leads to them.
    "$defs",
    "definitions",
    "components",
];

pub(super) fn assertion(keyword: &str) -> Option<Shape> {
    shape(ASSERTIONS, keyword)
}

pub(super) fn annotation(keyword: &str) -> Option<Shape> {
    shape(ANNOTATIONS, keyword)
}

pub(super) fn is_identity(keyword: &str) -> bool {
    IDENTITY.contains(&keyword)
}

/// Returns the name of the definition to which a schema refers.
pub(super) fn target(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix("#/$defs/"))
}

/// Finds the known keyword that is most similar to a misspelt keyword.
pub(super) fn near(written: &str) -> Option<&'static str> {
    let known = ASSERTIONS.iter().chain(ANNOTATIONS).map(|(known, _)| *known);
    let close = toolwright_core::near::near(written, known);
    close.into_iter().next().filter(|known| strsim::damerau_levenshtein(written, known) <= 2)
}

/// Returns the type to which a keyword applies; `None` if it applies to several types.
pub(super) fn about(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => "object",
        "items" | "prefixItems" | "contains" | "minItems" | "maxItems" | "uniqueItems"
        | "unevaluatedItems" => "array",
        "minLength" | "maxLength" | "pattern" => "string",
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => "number",
        _ => return None,
    })
}

fn shape(keywords: &[(&str, Shape)], keyword: &str) -> Option<Shape> {
    keywords.iter().find(|(known, _)| *known == keyword).map(|(_, shape)| *shape)
}

/// The keywords whose subschemas constrain the same value as the schema that contains them.
const IN_PLACE: &[&str] =
    &["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "dependentSchemas"];

pub(super) fn is_in_place(keyword: &str) -> bool {
    IN_PLACE.contains(&keyword)
}

/// Calls `visit` with each direct subschema of a schema, and with the keyword that contains the subschema.
pub(super) fn parts<'a>(schema: &'a Value, visit: &mut dyn FnMut(&'a str, &'a Value)) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match (shape_of(keyword), value) {
            (Some(Shape::Schema), part) => visit(keyword, part),
            (Some(Shape::SchemaList), Value::Array(parts)) => {
                parts.iter().for_each(|part| visit(keyword, part));
            }
            (Some(Shape::SchemaMap | Shape::PatternMap), Value::Object(parts)) => {
                parts.values().for_each(|part| visit(keyword, part));
            }
            _ => {}
        }
    }
}

/// Calls `visit` with each direct subschema of a schema. `visit` may change the subschema.
pub(super) fn parts_mut(schema: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    for (keyword, value) in schema.as_object_mut().into_iter().flatten() {
        match (shape_of(keyword), value) {
            (Some(Shape::Schema), part) => visit(part),
            (Some(Shape::SchemaList), Value::Array(parts)) => {
                parts.iter_mut().for_each(&mut *visit)
            }
            (Some(Shape::SchemaMap | Shape::PatternMap), Value::Object(parts)) => {
                parts.values_mut().for_each(&mut *visit);
            }
            _ => {}
        }
    }
}

fn shape_of(keyword: &str) -> Option<Shape> {
    assertion(keyword).or_else(|| annotation(keyword))
}
