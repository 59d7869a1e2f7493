//! Determines whether a schema is exact: whether every value that its type reads satisfies it. If it is not exact, the
//! text of each value is also checked against the schema.

use serde_json::{Map, Value};

use super::limits::is_natural;

/// Keywords that no value can violate.
const ANNOTATIONS: &[&str] =
    &["title", "description", "default", "examples", "deprecated", "$schema"];

pub(super) fn is_exact(schema: &Value, definitions: &Map<String, Value>) -> bool {
    Judge { definitions, open: Vec::new() }.exact(schema)
}

struct Judge<'a> {
    definitions: &'a Map<String, Value>,
    /// The references that are being examined. A reference that occurs again inside of its own target counts as exact.
    open: Vec<&'a str>,
}

impl<'a> Judge<'a> {
    fn exact(&mut self, schema: &'a Value) -> bool {
        let object = match schema {
            Value::Bool(anything) => return *anything,
            Value::Object(object) => object,
            _ => return false,
        };
        let says: Vec<&str> = object
            .keys()
            .map(String::as_str)
            .filter(|keyword| !ANNOTATIONS.contains(keyword))
            .collect();
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            return says.len() == 1 && self.reference(reference);
        }
        for (keyword, judge) in [
            ("oneOf", Self::variants as fn(&mut Self, &'a Value) -> bool),
            ("anyOf", Self::optional),
        ] {
            if let Some(choices) = object.get(keyword) {
                return says.len() == 1 && judge(self, choices);
            }
        }
        match object.get("type") {
            None => says.is_empty(),
            Some(Value::String(name)) => self.is_exact_type(name, object, &says),
            Some(Value::Array(names)) => match names.as_slice() {
                [Value::String(name), Value::String(null)] if null == "null" => {
                    self.is_exact_type(name, object, &says)
                }
                _ => false,
            },
            Some(_) => false,
        }
    }

    fn is_exact_type(&mut self, name: &str, object: &'a Map<String, Value>, says: &[&str]) -> bool {
        let only = |allowed: &[&str]| {
            says.iter().all(|keyword| *keyword == "type" || allowed.contains(keyword))
        };
        match name {
            "boolean" | "null" => only(&[]),
            "number" => only(&["format", "minimum", "maximum"]) && is_natural(object),
            "string" => only(&["enum"]) || only(&["const"]),
            "integer" => {
                only(&["format", "minimum", "maximum", "exclusiveMaximum"]) && is_natural(object)
            }
            "array" => self.array(object, only(&["items", "minItems", "maxItems", "prefixItems"])),
            "object" => {
                only(&["properties", "required", "additionalProperties"])
                    && !(object.contains_key("properties")
                        && object.get("additionalProperties").is_some_and(|it| *it != false))
                    && self.all(
                        object
                            .get("properties")
                            .and_then(Value::as_object)
                            .into_iter()
                            .flat_map(Map::values),
                    )
                    && object
                        .get("additionalProperties")
                        .is_none_or(|it| *it == false || self.exact(it))
                    && (object.contains_key("properties")
                        || object.contains_key("additionalProperties"))
            }
            _ => false,
        }
    }

    /// Examines the schema of a list, a tuple or an array of fixed length.
    fn array(&mut self, object: &'a Map<String, Value>, only: bool) -> bool {
        let count = |keyword: &str| object.get(keyword).and_then(Value::as_u64);
        let tuple = object.get("prefixItems").and_then(Value::as_array);
        let length_is_the_types = match (count("minItems"), count("maxItems"), tuple) {
            (None, None, None) => true,
            (Some(least), Some(most), Some(items)) => least == most && least == items.len() as u64,
            (Some(least), Some(most), None) => least == most,
            _ => false,
        };
        only && length_is_the_types
            && self.all(tuple.into_iter().flatten())
            && object.get("items").is_none_or(|items| *items == false || self.exact(items))
    }

    fn reference(&mut self, reference: &'a str) -> bool {
        let Some(name) = reference.strip_prefix("#/$defs/") else { return false };
        if self.open.contains(&name) {
            return true;
        }
        self.open.push(name);
        let exact = self.definitions.get(name).is_some_and(|target| self.exact(target));
        self.open.pop();
        exact
    }

    /// Examines the schema of `Option<T>` that is a union, because the schema of `T` has several keywords.
    fn optional(&mut self, choices: &'a Value) -> bool {
        match choices.as_array().map(Vec::as_slice) {
            Some([value, null]) => {
                null.get("type").and_then(Value::as_str) == Some("null") && self.exact(value)
            }
            _ => false,
        }
    }

    /// Examines the variants of an externally tagged enum. The reader distinguishes them as the schema does.
    fn variants(&mut self, choices: &'a Value) -> bool {
        choices.as_array().is_some_and(|choices| choices.iter().all(|choice| self.variant(choice)))
    }

    fn variant(&mut self, choice: &'a Value) -> bool {
        let kind = choice.get("type").and_then(Value::as_str);
        if kind == Some("string") {
            return self.exact(choice);
        }
        let properties = choice.get("properties").and_then(Value::as_object);
        let Some((_, content)) =
            properties.filter(|it| it.len() == 1).and_then(|it| it.iter().next())
        else {
            return false;
        };
        // A constant in the content is the tag of an internally tagged variant.
        content.get("const").is_none() && self.exact(choice)
    }

    fn all(&mut self, mut schemas: impl Iterator<Item = &'a Value>) -> bool {
        schemas.all(|schema| self.exact(schema))
    }
}
