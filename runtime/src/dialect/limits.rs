//! How large a written schema is, against what a provider takes.

use super::node::Node;
use super::rules::Limits;

/// What was counted in one written schema.
#[derive(Debug, Default)]
struct Counted {
    depth: usize,
    properties: usize,
    /// Of the properties, those that may be absent.
    optional: usize,
    enum_values: usize,
    /// Of the names of properties and definitions, and of constants.
    characters: usize,
}

/// What is more than the provider takes, a sentence each.
pub(super) fn exceeded(limits: &Limits, schema: &Node) -> Vec<String> {
    let mut counted = Counted::default();
    counted.schema(schema, 0);
    [
        ("levels of nesting", counted.depth, limits.depth),
        ("properties", counted.properties, limits.properties),
        ("values in enums", counted.enum_values, limits.enum_values),
        ("characters in names and constants", counted.characters, limits.characters),
    ]
    .into_iter()
    .filter_map(|(what, count, most)| {
        let most = most.filter(|most| count > *most)?;
        Some(format!("the schema has {count} {what}, the provider takes {most}"))
    })
    .collect()
}

/// How many properties may be absent.
pub(super) fn optional(schema: &Node) -> usize {
    let mut counted = Counted::default();
    counted.schema(schema, 0);
    counted.optional
}

impl Counted {
    fn schema(&mut self, node: &Node, depth: usize) {
        let Node::Object(keywords) = node else { return };
        let required = match node.get("required") {
            Some(Node::List(names)) => names.len(),
            _ => 0,
        };
        for (keyword, value) in keywords {
            match (keyword.as_str(), value) {
                ("properties", Node::Object(properties)) => {
                    self.depth = self.depth.max(depth + 1);
                    self.properties += properties.len();
                    self.optional += properties.len().saturating_sub(required);
                    for (name, schema) in properties {
                        self.characters += name.chars().count();
                        self.schema(schema, depth + 1);
                    }
                }
                ("$defs", Node::Object(definitions)) => {
                    for (name, schema) in definitions {
                        self.characters += name.chars().count();
                        self.schema(schema, depth);
                    }
                }
                ("enum", Node::List(values)) => {
                    self.enum_values += values.len();
                    self.characters += values.iter().map(length).sum::<usize>();
                }
                ("const", value) => self.characters += length(value),
                (_, Node::List(schemas)) => {
                    schemas.iter().for_each(|schema| self.schema(schema, depth));
                }
                (_, schema) => self.schema(schema, depth),
            }
        }
    }
}

fn length(value: &Node) -> usize {
    value.as_str().map_or(0, |text| text.chars().count())
}
