//! One key of a tool's input, and the form in which its value is typed on a command line. If a tool takes its whole
//! input as one type, the keys come from the schema of the type.

use serde_json::Value;

use toolwright_core::json::reference;
use toolwright_core::tool::{Definition, Parameter};
use toolwright_executor::dynamic::properties;

/// The form in which a value is typed on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Switch,
    Number,
    Text,
    /// A list, whose flag is repeated for each item.
    List(Item),
    Json,
}

/// The type of a list's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Number,
    Text,
}

/// One key of the input.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub(super) key: &'a str,
    pub(super) description: &'a str,
    pub(super) schema: &'a Value,
    pub(super) shape: Shape,
    pub(super) choices: Vec<Choice<'a>>,
    pub(super) required: bool,
    pub(super) secret: bool,
    pub(super) short: Option<char>,
    pub(super) aliases: &'a [&'a str],
    positional: bool,
}

/// One of the values that a key accepts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice<'a> {
    pub(super) value: &'a Value,
    pub(super) description: Option<&'a str>,
}

/// Lists the keys of a tool's input in the order of their declaration. If only a schema is known, the keys have the
/// order of the schema, but required keys come first.
pub(super) fn of(definition: &Definition) -> Vec<Field<'_>> {
    let root = &definition.input_schema;
    if definition.parameters.is_empty() {
        return of_schema(root);
    }
    definition.parameters.iter().map(|parameter| of_parameter(root, parameter)).collect()
}

fn of_parameter<'a>(root: &'a Value, parameter: &'a Parameter) -> Field<'a> {
    Field {
        description: &parameter.description,
        required: parameter.required,
        secret: parameter.secret,
        short: parameter.short,
        aliases: parameter.aliases,
        positional: parameter.positional,
        ..of_property(root, &parameter.name, &parameter.schema, parameter.required)
    }
}

fn of_schema(root: &Value) -> Vec<Field<'_>> {
    let properties = properties::of(root).into_iter();
    properties
        .map(|it| Field { secret: it.secret, ..of_property(root, it.name, it.schema, it.required) })
        .collect()
}

fn of_property<'a>(root: &'a Value, key: &'a str, schema: &'a Value, required: bool) -> Field<'a> {
    let meant = reference::follow(root, schema).unwrap_or(schema);
    let words = |schema: &'a Value| schema.get("description").and_then(Value::as_str);
    Field {
        key,
        description: words(schema).or_else(|| words(meant)).unwrap_or_default(),
        schema,
        shape: shape(root, meant),
        choices: choices(root, meant.get("items").unwrap_or(meant)),
        required,
        secret: false,
        short: None,
        aliases: &[],
        positional: false,
    }
}

impl Field<'_> {
    /// Whether the value is typed without a flag: it is declared as positional, or it is required and one word. A secret
    /// that is one word always has flags, which can also read it from a variable or from standard input.
    pub(super) fn is_positional(&self) -> bool {
        let is_word = matches!(self.shape, Shape::Number | Shape::Text);
        if is_word && self.secret {
            return false;
        }
        let by_itself = self.required && is_word && self.short.is_none();
        (self.positional && self.shape != Shape::Switch) || by_itself
    }

    /// Returns the default of the key if it is absent.
    pub(super) fn default(&self) -> Option<&Value> {
        self.schema.get("default").filter(|it| !it.is_null())
    }
}

fn shape(root: &Value, schema: &Value) -> Shape {
    let mut found = kinds(root, schema, 0);
    found.retain(|kind| *kind != "null");
    match found.as_slice() {
        ["boolean"] => Shape::Switch,
        ["string"] => Shape::Text,
        ["number"] => Shape::Number,
        ["array"] => match schema.get("items").map(|it| kinds(root, it, 0)).as_deref() {
            Some(["number"]) => Shape::List(Item::Number),
            Some(["string"]) => Shape::List(Item::Text),
            _ => Shape::Json,
        },
        _ => Shape::Json,
    }
}

/// Returns the types that a schema accepts, with integers as numbers; empty if the schema sets no type.
fn kinds<'a>(root: &'a Value, schema: &'a Value, depth: usize) -> Vec<&'a str> {
    if depth > DEEPEST {
        return Vec::new();
    }
    let schema = reference::follow(root, schema).unwrap_or(schema);
    let mut found: Vec<&'a str> = Vec::new();
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        found.extend(values.iter().map(|value| -> &str { kind(value) }));
    } else if let Some(value) = schema.get("const") {
        found.push(kind(value));
    } else if let Some(name) = schema.get("type").and_then(Value::as_str) {
        found.push(name);
    } else if let Some(names) = schema.get("type").and_then(Value::as_array) {
        found.extend(names.iter().filter_map(Value::as_str));
    } else {
        let below = ["anyOf", "oneOf"].iter().filter_map(|it| schema.get(it)?.as_array());
        found.extend(below.flatten().flat_map(|it| kinds(root, it, depth + 1)));
    }
    for name in &mut found {
        if *name == "integer" {
            *name = "number";
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The nesting depth to which a schema is examined, because a deeper search may take long.
const DEEPEST: usize = 3;

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the values that the schema allows, if the schema lists them.
fn choices<'a>(root: &'a Value, schema: &'a Value) -> Vec<Choice<'a>> {
    each_choice(root, schema, 0).unwrap_or_default()
}

/// Returns the values that a schema accepts; `None` if it accepts values that it does not list.
fn each_choice<'a>(root: &'a Value, schema: &'a Value, depth: usize) -> Option<Vec<Choice<'a>>> {
    if depth > DEEPEST {
        return None;
    }
    let schema = reference::follow(root, schema).unwrap_or(schema);
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values = values.iter().filter(|it| !it.is_null());
        return Some(values.map(|value| Choice { value, description: None }).collect());
    }
    if let Some(value) = schema.get("const") {
        let description = schema.get("description").and_then(Value::as_str);
        return Some(vec![Choice { value, description }]);
    }
    if schema.get("type").is_some_and(|it| it == "null") {
        return Some(Vec::new());
    }
    let below = ["oneOf", "anyOf"].iter().find_map(|it| schema.get(it)?.as_array())?;
    let each: Option<Vec<_>> = below.iter().map(|it| each_choice(root, it, depth + 1)).collect();
    each.map(|choices| choices.concat())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use toolwright_executor::dynamic::DynamicTool;
    use toolwright_executor::registry::Registry;

    #[test]
    fn how_a_value_is_typed_is_read_off_its_schema() {
        let root = json!({"$defs": {"Name": {"type": "string"}, "Self": {"$ref": "#/$defs/Self"}}});
        for (schema, expected) in [
            (json!({"type": "boolean"}), Shape::Switch),
            (json!({"type": "integer"}), Shape::Number),
            (json!({"type": ["integer", "number", "null"]}), Shape::Number),
            (json!({"enum": ["a", "b", null]}), Shape::Text),
            (json!({"enum": [1, 2]}), Shape::Number),
            (json!({"enum": ["a", 1]}), Shape::Json),
            (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), Shape::Text),
            (json!({"anyOf": [{"$ref": "#/$defs/Name"}, {"type": "null"}]}), Shape::Text),
            (json!({"$ref": "#/$defs/Name"}), Shape::Text),
            (json!({"$ref": "#/$defs/Self"}), Shape::Json),
            (json!({"type": "array", "items": {"$ref": "#/$defs/Name"}}), Shape::List(Item::Text)),
            (json!({"type": "array", "items": {"type": "object"}}), Shape::Json),
            (json!({"type": "array"}), Shape::Json),
            (json!({"type": "object"}), Shape::Json),
            (json!({"type": ["string", "integer"]}), Shape::Json),
            (json!({}), Shape::Json),
            (json!(true), Shape::Json),
        ] {
            assert_eq!(of_property(&root, "it", &schema, true).shape, expected, "{schema}");
        }
    }

    #[test]
    fn the_values_of_a_choice_are_found_behind_references_and_beside_null() {
        let one = |name: &str| json!({"const": name, "description": "As said."});
        let root = json!({"$defs": {
            "Plain": {"enum": ["a", "b"]},
            "Told": {"oneOf": [one("a"), one("b")]},
            "Self": {"anyOf": [{"$ref": "#/$defs/Self"}, {"const": "a"}]},
        }});
        for (schema, values) in [
            (json!({"enum": ["a", "b", null]}), "ab"),
            (json!({"anyOf": [{"$ref": "#/$defs/Plain"}, {"type": "null"}]}), "ab"),
            (json!({"anyOf": [{"$ref": "#/$defs/Told"}, {"type": "null"}]}), "ab"),
            (json!({"type": "array", "items": {"$ref": "#/$defs/Told"}}), "ab"),
            (json!({"anyOf": [{"$ref": "#/$defs/Told"}, {"type": "string"}]}), ""),
            (json!({"$ref": "#/$defs/Self"}), ""),
            (json!({"type": "string"}), ""),
            (json!(true), ""),
        ] {
            let field = of_property(&root, "it", &schema, true);
            let found: String = field.choices.iter().filter_map(|it| it.value.as_str()).collect();
            assert_eq!(found, values, "{schema}");
        }
    }

    #[test]
    fn the_keys_of_a_tool_made_at_run_time_come_required_first_in_its_order() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"type": "string"}, "z": {"type": "string"}, "p": {"type": "string", "format": "password"},
                "m": {"type": "integer", "description": "How many."},
            },
            "required": ["z", "p", "m"],
        });
        let tool = DynamicTool::new("it", "Does it.", schema, |_, _| async { Ok(()) });
        let definition = Registry::of([tool]).unwrap().get("it").unwrap();
        let fields = of(&definition);
        let keys: Vec<_> = fields.iter().map(|it| (it.key, it.required, it.description)).collect();
        assert_eq!(
            keys,
            [("z", true, ""), ("p", true, ""), ("m", true, "How many."), ("a", false, "")]
        );
        let positional: Vec<_> = fields.iter().map(Field::is_positional).collect();
        assert_eq!(positional, [true, false, true, false]);
        assert!(fields[1].secret && !fields[0].secret);
    }
}
