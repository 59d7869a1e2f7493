//! A shape: one of the alternatives that the schema allows at a place.

use std::collections::{HashMap, HashSet};

use toolwright_core::json::tree::Node;
#[doc(hidden)]
pub use toolwright_core::scalar::Types;

/// One of the alternatives that the schema allows for the value at a place: see [`Site`](super::site::Site).
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) types: Types,
    /// The values of `enum` or `const`.
    pub(super) choices: Option<Vec<Node>>,
    pub(super) properties: HashMap<String, usize>,
    pub(super) required: HashSet<String>,
    /// Whether keys that are not among the properties are refused.
    pub(super) closed: bool,
    /// The place of the schema for the values of all other keys.
    pub(super) additional: Option<usize>,
    pub(super) prefix: Vec<usize>,
    pub(super) items: Option<usize>,
}

impl Shape {
    pub(super) fn any() -> Self {
        Self {
            types: Types::ALL,
            choices: None,
            properties: HashMap::new(),
            required: HashSet::new(),
            closed: false,
            additional: None,
            prefix: Vec::new(),
            items: None,
        }
    }

    /// Returns the shape of the values that match both shapes.
    pub(super) fn both(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.types = self.types.common(other.types);
        both.choices = match (&self.choices, &other.choices) {
            (Some(one), Some(two)) => {
                Some(one.iter().filter(|it| two.contains(it)).cloned().collect())
            }
            (one, two) => one.as_ref().or(two.as_ref()).cloned(),
        };
        for (key, site) in &other.properties {
            both.properties.entry(key.clone()).or_insert(*site);
        }
        both.required.extend(other.required.iter().cloned());
        both.closed |= other.closed;
        both.additional = self.additional.or(other.additional);
        both.items = self.items.or(other.items);
        if both.prefix.is_empty() {
            both.prefix.clone_from(&other.prefix);
        }
        both
    }

    /// Lists the texts among the choices of the shape.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.choices.iter().flatten().filter_map(|choice| match choice {
            Node::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }
}
