//! Fills in the defaults that a schema gives for absent keys that it does not require.
//!
//! - Defaults are found along `properties`, `additionalProperties`, `items`, `prefixItems`, `allOf` and `$ref`; not
//!   below `anyOf` and `oneOf`, because it is not known which of their schemas applies.
//! - Defaults inside a default that was filled in are filled in as well, so that filling again changes nothing.
//! - The work is bounded for every schema, because a schema may come from outside.

use serde_json::Value;

use toolwright_core::json::tree::Node;
use toolwright_core::json::{ArgumentsError, MAX_DEPTH, reference};
use toolwright_core::schema::walk::pointers;

/// The maximum number of default values that are filled in; every 64 bytes of their text count as one value more.
const MOST: usize = 1 << 18;
/// The number of visits that each value of the arguments adds to the limit on all visits. A value is visited once for
/// each schema that applies to it.
const MOST_LOOKS: usize = 64;

/// Fills in the schema's defaults for optional keys that the arguments leave out.
pub(super) fn fill(arguments: &mut Node, schema: &Value) -> Result<(), ArgumentsError> {
    let looks = MOST.saturating_add(arguments.weight().saturating_mul(MOST_LOOKS));
    Filling { root: schema, left: MOST, looks }.node(arguments, schema, 0, 0)
}

/// Returns the JSON pointer to a part of a schema whose defaults contain themselves, or are too many to be filled in.
#[doc(hidden)]
#[must_use]
pub fn endless_defaults(schema: &Value) -> Option<String> {
    let mut places = Vec::new();
    pointers(schema, String::new(), &mut places);
    places.into_iter().find(|place| {
        let Some(at) = schema.pointer(place).filter(|it| it.get("properties").is_some()) else {
            return false;
        };
        let mut filling = Filling { root: schema, left: MOST, looks: MOST };
        filling.node(&mut Node::Object(Vec::new()), at, 0, 0).is_err()
    })
}

struct Filling<'s> {
    root: &'s Value,
    /// How many values may still be filled in.
    left: usize,
    /// How many more values may be visited.
    looks: usize,
}

impl<'s> Filling<'s> {
    /// Fills in the defaults below one value. `depth` is how deep the value is nested, `hops` how many references and
    /// `allOf` branches lead to the schema.
    fn node(
        &mut self,
        node: &mut Node,
        schema: &'s Value,
        depth: usize,
        hops: usize,
    ) -> Result<(), ArgumentsError> {
        if hops > reference::MOST_HOPS {
            return Ok(());
        }
        self.looks = self.looks.checked_sub(1).ok_or(ArgumentsError::Defaults { most: MOST })?;
        match node {
            Node::Object(entries) => self.object(entries, schema, depth)?,
            Node::Array(items) => {
                let first = schema.get("prefixItems").and_then(Value::as_array);
                for (index, item) in items.iter_mut().enumerate() {
                    let own = first.and_then(|first| first.get(index));
                    if let Some(schema) = own.or_else(|| schema.get("items")) {
                        self.node(item, schema, depth + 1, 0)?;
                    }
                }
            }
            _ => return Ok(()),
        }
        let all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        for schema in all.chain(reference::target(self.root, schema)) {
            self.node(node, schema, depth, hops + 1)?;
        }
        Ok(())
    }

    fn object(
        &mut self,
        entries: &mut Vec<(String, Node)>,
        schema: &'s Value,
        depth: usize,
    ) -> Result<(), ArgumentsError> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        for (name, property) in properties.into_iter().flatten() {
            let Some(default) = self.default(property) else { continue };
            let is_required = required.is_some_and(|it| it.iter().any(|key| key == name));
            if is_required || entries.iter().any(|(key, _)| key == name) {
                continue;
            }
            let filled = Node::of(default);
            let is_too_deep = depth + 1 + filled.depth() > MAX_DEPTH;
            self.left = match self.left.checked_sub(filled.weight() + name.len() / 64) {
                Some(left) if !is_too_deep => left,
                _ => return Err(ArgumentsError::Defaults { most: MOST }),
            };
            entries.push((name.clone(), filled));
        }
        let others = match schema.get("patternProperties") {
            None => schema.get("additionalProperties"),
            Some(_) => None,
        };
        for (key, value) in entries {
            let own = properties.and_then(|it| it.get(key.as_str()));
            if let Some(schema) = own.or(others) {
                self.node(value, schema, depth + 1, 0)?;
            }
        }
        Ok(())
    }

    /// Returns the default that a schema gives for an absent key, itself or through a reference.
    fn default(&self, schema: &'s Value) -> Option<&'s Value> {
        let first = Some(schema);
        let chain = std::iter::successors(first, |schema| reference::target(self.root, schema));
        chain.take(reference::MOST_HOPS).find_map(|schema| schema.get("default"))
    }
}
