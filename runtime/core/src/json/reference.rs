//! Interprets `$ref`, for all crates. A reference has a target only if it names a place in its own document.

use std::borrow::Cow;

use serde_json::Value;

use super::pointer::unescape;

/// The maximum number of references that are followed one after another. A longer chain is treated as a cycle.
#[doc(hidden)]
pub const MOST_HOPS: usize = 32;

/// Returns the `$ref` of a schema.
#[doc(hidden)]
#[must_use]
pub fn of(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()
}

/// Returns the place that a reference names, as a JSON pointer; `None` for anchors and other documents.
#[doc(hidden)]
#[must_use]
pub fn place(reference: &str) -> Option<&str> {
    let pointer = reference.strip_prefix('#')?;
    (pointer.is_empty() || pointer.starts_with('/')).then_some(pointer)
}

/// Returns the name of the definition that a reference names; `None` for other places.
#[doc(hidden)]
#[must_use]
pub fn definition(reference: &str) -> Option<Cow<'_, str>> {
    let name = reference.strip_prefix("#/$defs/")?;
    (!name.contains('/')).then(|| unescape(name))
}

/// Returns the schema to which the `$ref` of a schema leads; `None` if there is no `$ref`, or no schema at its place.
#[doc(hidden)]
#[must_use]
pub fn target<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    root.pointer(place(of(schema)?)?)
}

/// Follows references to the first schema without a `$ref`; `None` if a reference has no target, or if more than
/// [`MOST_HOPS`] references follow one another, as in a cycle.
#[doc(hidden)]
#[must_use]
pub fn follow<'s>(root: &'s Value, schema: &'s Value) -> Option<&'s Value> {
    let mut schema = schema;
    for _ in 0..=MOST_HOPS {
        if schema.get("$ref").is_none() {
            return Some(schema);
        }
        schema = target(root, schema)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reference_leads_to_a_place_in_its_own_document_or_nowhere() {
        let root = json!({"$defs": {
            "a/b": {"type": "string"},
            "chain": {"$ref": "#/$defs/a~1b"},
            "loop": {"$ref": "#/$defs/loop"},
            "number": {"$ref": 1},
        }});
        let to = |reference: &str| json!({"$ref": reference});
        let text = json!({"type": "string"});
        assert_eq!(target(&root, &to("#")), Some(&root));
        assert_eq!(follow(&root, &to("#/$defs/a~1b")), Some(&text));
        assert_eq!(follow(&root, &to("#/$defs/chain")), Some(&text));
        assert_eq!(target(&root, &to("#/$defs/chain")), Some(&to("#/$defs/a~1b")));
        assert_eq!(follow(&root, &text), Some(&text));
        for nowhere in
            ["#/$defs/loop", "#/$defs/number", "#/$defs/none", "#anchor", "https://a.example/b"]
        {
            assert_eq!(follow(&root, &to(nowhere)), None, "{nowhere}");
        }
        assert_eq!(definition("#/$defs/a~1b").as_deref(), Some("a/b"));
        for other in ["#", "#/properties/a", "#/$defs/a/items", "a"] {
            assert_eq!(definition(other), None, "{other}");
        }
    }
}
