//! Repairs the most frequent mistake of models, a scalar of the wrong type, inside the reader: without compiling a
//! schema or reading the text twice.
//!
//! - `Repairer` repairs a scalar exactly as this file does, and repairs other mistakes too.

mod readings;
mod types;

use serde_json::Value;

use crate::json::tree::Node;
use crate::repairs::ChangeRule;

pub use readings::readings;
pub use types::Types;

/// The scalar types that a parameter accepts, if its schema says nothing else.
#[derive(Debug, Clone, Copy)]
pub struct Scalars(Types);

impl Scalars {
    /// Returns the types that a schema allows, if its `type` says everything.
    pub fn of(schema: &Value) -> Option<Self> {
        let object = schema.as_object()?;
        let says_more = ["anyOf", "oneOf", "allOf", "not", "$ref", "if"];
        if !object.contains_key("type") || says_more.iter().any(|it| object.contains_key(*it)) {
            return None;
        }
        let types = Types::named(object);
        let is_scalar =
            [Types::BOOLEAN, Types::INTEGER, Types::TEXT].iter().any(|it| types.has(*it));
        let is_more = [Types::NULL, Types::ARRAY, Types::OBJECT].iter().any(|it| types.has(*it));
        (is_scalar && !is_more).then_some(Self(types))
    }

    /// Reads a value of another type with its only possible meaning, as JSON.
    pub fn reading(self, text: &str) -> Option<(String, ChangeRule)> {
        let node = match text.as_bytes() {
            // A text with escapes may mean something else than it seems to.
            [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => {
                Node::Text(text.get(1..text.len() - 1)?.to_owned())
            }
            b"true" => Node::Bool(true),
            b"false" => Node::Bool(false),
            [b'-' | b'0'..=b'9', ..] => Node::Number(text.to_owned()),
            _ => return None,
        };
        match <[(Node, ChangeRule); 1]>::try_from(readings(&node, self.0, false)) {
            Ok([(node, rule)]) => Some((node.text(), rule)),
            Err(_) => None,
        }
    }
}
