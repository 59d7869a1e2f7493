//! Compares the size of a schema in a provider's form with the provider's limits.

use super::node::Node;
use super::rules::Limits;

/// The counts in a schema that providers limit.
#[derive(Debug, Default)]
pub(super) struct SchemaSize {
    depth: usize,
    properties: usize,
    /// The number of optional properties.
    pub(super) optional: usize,
    /// The number of unions and lists of types.
    pub(super) unions: usize,
    enum_values: usize,
    /// The number of characters in the names of properties and definitions, and in constants.
    characters: usize,
    /// For each enum: the number of its values, and the number of characters in them.
    enums: Vec<(usize, usize)>,
}

/// Describes each limit that the schema exceeds, in one sentence.
pub(super) fn find_excess(limits: &Limits, counted: &SchemaSize) -> Vec<String> {
    let sizes = [
        ("levels of nesting", counted.depth, limits.depth),
        ("properties", counted.properties, limits.properties),
        ("values in enums", counted.enum_values, limits.enum_values),
        ("characters in names and constants", counted.characters, limits.characters),
    ];
    let sizes = sizes.into_iter().filter_map(|(what, count, most)| {
        let most = most.filter(|most| count > *most)?;
        Some(format!("the schema has {count} {what}, the provider takes {most}"))
    });
    let in_request = in_request(limits, counted.optional, counted.unions).into_iter();
    let in_request = in_request.filter_map(|(what, count, most)| {
        let most = most.filter(|most| count > *most)?;
        Some(format!("there are {count} {what}, the provider takes {most} in one request"))
    });
    let enums = counted.enums.iter().filter_map(|(texts, characters)| {
        let (few, most) = limits.long_enum?;
        let is_long = *texts > few && *characters > most;
        is_long.then(|| format!("an enum of {texts} texts has {characters} characters, the provider takes {most} where there are more than {few}"))
    });
    sizes.chain(in_request).chain(enums).collect()
}

/// Lists the limits for a whole request: what is limited, how many the request has, and how many are allowed.
pub(super) fn in_request(
    limits: &Limits,
    optional: usize,
    unions: usize,
) -> [(&'static str, usize, Option<usize>); 2] {
    [
        ("properties that may be absent", optional, limits.optional),
        ("values of several types", unions, limits.unions),
    ]
}

impl SchemaSize {
    pub(super) fn of(schema: &Node) -> Self {
        let mut counted = Self::default();
        counted.schema(schema, 0);
        counted
    }

    fn schema(&mut self, node: &Node, depth: usize) {
        let Node::Object(keywords) = node else { return };
        let required = match node.get("required") {
            Some(Node::List(names)) => names.len(),
            _ => 0,
        };
        let is_list = |it: &Node| matches!(it, Node::List(_));
        if node.get("anyOf").is_some() || node.get("type").is_some_and(is_list) {
            self.unions += 1;
        }
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
                    let characters = values.iter().map(length).sum::<usize>();
                    self.characters += characters;
                    self.enums.push((values.len(), characters));
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
