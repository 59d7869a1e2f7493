//! One way to be right at a place of a schema.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::tree::{Node, is_integral};

/// A set of the types of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    const FRACTION: Self = Self(8);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const TEXT: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    const ALL: Self = Self(127);

    /// Whether every type of `other` is one of these.
    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn of(node: &Node) -> Self {
        match node {
            Node::Null => Self::NULL,
            Node::Bool(_) => Self::BOOLEAN,
            Node::Number(digits) if is_integral(digits) => Self::INTEGER,
            Node::Number(_) => Self::FRACTION,
            Node::Text(_) => Self::TEXT,
            Node::Array(_) => Self::ARRAY,
            Node::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn named(schema: &Map<String, Value>) -> Self {
        let named = |name: &Value| match name.as_str() {
            Some("null") => Self::NULL,
            Some("boolean") => Self::BOOLEAN,
            Some("integer") => Self::INTEGER,
            Some("number") => Self::NUMBER,
            Some("string") => Self::TEXT,
            Some("array") => Self::ARRAY,
            Some("object") => Self::OBJECT,
            _ => Self(0),
        };
        match schema.get("type") {
            Some(Value::Array(names)) => names.iter().map(named).fold(Self(0), Self::and),
            Some(name) => named(name),
            None => Self::ALL,
        }
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// One way to be right at a place.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) types: Types,
    /// The values of `enum` or `const`.
    pub(super) choices: Option<Vec<Node>>,
    pub(super) properties: HashMap<String, usize>,
    pub(super) required: HashSet<String>,
    /// Whether keys beside the properties are refused.
    pub(super) closed: bool,
    /// The place of values beside the properties.
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

    /// What is both.
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

    /// The places of what it holds.
    pub(super) fn children(&self) -> impl Iterator<Item = usize> {
        let beside = self.prefix.iter().chain(&self.items).chain(&self.additional);
        self.properties.values().chain(beside).copied()
    }

    /// The texts among its choices.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.choices.iter().flatten().filter_map(|choice| match choice {
            Node::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }
}
