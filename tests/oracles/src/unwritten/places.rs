//! Every schema inside a schema, with its place.

use serde_json::Value;

const MAPS: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const ONE: [&str; 11] = [
    "items",
    "additionalProperties",
    "additionalItems",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// A schema and where it stands.
pub(super) struct Place<'a> {
    pub(super) pointer: String,
    pub(super) schema: &'a Value,
    /// How many objects and lists it stands in, itself included where it is one.
    pub(super) depth: usize,
}

impl<'a> Place<'a> {
    pub(super) fn keywords(&self) -> impl Iterator<Item = &'a str> {
        self.schema.as_object().into_iter().flat_map(|it| it.keys()).map(String::as_str)
    }

    pub(super) fn has(&self, keyword: &str) -> bool {
        self.schema.get(keyword).is_some()
    }

    /// Whether the schema says that it takes values of this type.
    pub(super) fn is(&self, name: &str) -> bool {
        takes(self.schema, name)
    }
}

/// The root first, then what is in it, depth first. References are not followed.
pub(super) fn all<'a>(root: &'a Value, pointer: &str) -> Vec<Place<'a>> {
    let mut places = Vec::new();
    visit(root, pointer.to_owned(), 0, &mut places);
    places
}

fn visit<'a>(schema: &'a Value, pointer: String, above: usize, places: &mut Vec<Place<'a>>) {
    let container = ["object", "array"].iter().any(|it| takes(schema, it));
    let depth = above + usize::from(container);
    places.push(Place { pointer: pointer.clone(), schema, depth });
    let Some(object) = schema.as_object() else { return };
    for (keyword, value) in object {
        let below = format!("{pointer}/{keyword}");
        let keyword = keyword.as_str();
        match value {
            Value::Object(map) if MAPS.contains(&keyword) => {
                for (name, it) in map {
                    visit(it, format!("{below}/{}", escaped(name)), depth, places);
                }
            }
            Value::Array(list) if LISTS.contains(&keyword) => {
                for (index, it) in list.iter().enumerate() {
                    visit(it, format!("{below}/{index}"), depth, places);
                }
            }
            Value::Object(_) | Value::Bool(_) if ONE.contains(&keyword) => {
                visit(value, below, depth, places);
            }
            _ => {}
        }
    }
}

fn takes(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(it)) => it == name,
        Some(Value::Array(list)) => list.iter().any(|it| it == name),
        _ => false,
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::all;

    #[test]
    fn a_property_called_like_a_keyword_is_a_schema_and_an_enum_holds_none() {
        let schema = json!({"type": "object", "properties": {
            "properties": {"enum": [{"type": "object"}]},
            "a/b": {"type": "array", "items": {"type": "string"}},
        }, "additionalProperties": false});
        let places = all(&schema, "");
        let mut found: Vec<_> = places.iter().map(|it| (it.pointer.as_str(), it.depth)).collect();
        found.sort_unstable();
        assert_eq!(
            found,
            [
                ("", 1),
                ("/additionalProperties", 1),
                ("/properties/a~1b", 2),
                ("/properties/a~1b/items", 2),
                ("/properties/properties", 1),
            ]
        );
    }
}
