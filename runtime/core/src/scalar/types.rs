//! A set of JSON Schema types.

use serde_json::{Map, Value};

use crate::json::tree::{Node, is_integral};

/// A set of the types of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    pub const NULL: Self = Self(1);
    pub const BOOLEAN: Self = Self(2);
    pub const INTEGER: Self = Self(4);
    const FRACTION: Self = Self(8);
    pub const NUMBER: Self = Self(4 | 8);
    pub const TEXT: Self = Self(16);
    pub const ARRAY: Self = Self(32);
    pub const OBJECT: Self = Self(64);
    #[doc(hidden)]
    pub const ALL: Self = Self(127);

    /// Returns whether this set contains every type of `other`.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub fn of(node: &Node) -> Self {
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

    pub fn named(schema: &Map<String, Value>) -> Self {
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

    #[doc(hidden)]
    pub fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}
