//! Repairs a scalar of the wrong type, the most frequent mistake of models, while the input is read. This needs no
//! compiled schema and no second reading of the text.
//!
//! - `Repairer` finds the same readings of a scalar, and also repairs other mistakes.

mod readings;
mod types;

use serde_json::Value;

use crate::json::tree::Node;
use crate::repairs::ChangeRule;

pub use readings::readings;
pub use types::Types;

/// The scalar types that a parameter accepts, if its schema allows nothing but scalars.
#[derive(Debug, Clone, Copy)]
pub struct Scalars(Types);

impl Scalars {
    /// Returns the scalar types that a schema allows; `None` if the schema also allows other types, has no `type`, or
    /// has a keyword such as `anyOf`.
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

    /// Converts a value to one of the types and returns it as JSON; `None` unless there is exactly one possible
    /// meaning.
    pub fn reading(self, text: &str) -> Option<(String, ChangeRule)> {
        let node = match text.as_bytes() {
            // A text with escape sequences is not converted, because `inner` is not decoded.
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
