//! Removes the keys for which a model sent `null` because they are absent. The text of all other values remains as the
//! model wrote it.

mod entries;
mod variants;

use std::borrow::Cow;

use serde_json::{Value, value::RawValue};

use self::entries::{Entries, Entry, Unreadable};
use self::variants::{Variant, Variants};

/// The maximum depth of values that are changed. The reader reports deeper values later.
const DEPTH: usize = toolwright_core::json::MAX_DEPTH;

/// Returns the arguments without the keys whose `null` means an absent key.
pub(super) fn remove_absent<'t>(schema: &Value, text: &'t str) -> Cow<'t, str> {
    if !text.contains("null") {
        return Cow::Borrowed(text);
    }
    let removal = Removal { root: schema };
    // A text that cannot be parsed is returned unchanged. The reader then reports what the model wrote.
    let variants = Variants::of(schema, [vec![schema]]);
    match removal.value(&variants, text, 0) {
        Ok(Some(text)) => Cow::Owned(text),
        Ok(None) | Err(Unreadable) => Cow::Borrowed(text),
    }
}

struct Removal<'a> {
    root: &'a Value,
}

impl<'a> Removal<'a> {
    /// Removes absent keys from a value that has to fit one of the variants. Returns `None` if no key is removed.
    fn value(
        &self,
        variants: &Variants<'a>,
        text: &str,
        depth: usize,
    ) -> Result<Option<String>, Unreadable> {
        if depth > DEPTH || !text.contains("null") {
            return Ok(None);
        }
        match text.trim_start().as_bytes().first() {
            Some(b'{') => self.object(variants, text, depth),
            Some(b'[') => self.list(variants, text, depth),
            _ => Ok(None),
        }
    }

    fn object(
        &self,
        variants: &Variants<'a>,
        text: &str,
        depth: usize,
    ) -> Result<Option<String>, Unreadable> {
        let Entries(entries) = serde_json::from_str(text).map_err(|_| Unreadable)?;
        let mut fitting: Vec<&Variant<'a>> = variants.that_take("object").collect();
        // If the schema has only one variant for objects, the model meant that variant, even if a key is missing.
        if fitting.len() > 1 {
            fitting.retain(|variant| variant.fits(self.root, &entries));
        }
        let mut changed = false;
        let mut written = String::from("{");
        for Entry { key, raw, .. } in &entries {
            let is_absent = raw.get() == "null"
                && !fitting.is_empty()
                && fitting.iter().all(|variant| variant.has_no_null(self.root, key));
            if is_absent {
                changed = true;
                continue;
            }
            let inner = if raw.get().contains("null") {
                let below = fitting.iter().map(|variant| variant.property(key).collect());
                self.value(&Variants::of(self.root, below), raw.get(), depth + 1)?
            } else {
                None
            };
            changed |= inner.is_some();
            if written.len() > 1 {
                written.push(',');
            }
            written.push_str(&Value::from(key.as_ref()).to_string());
            written.push(':');
            written.push_str(inner.as_deref().unwrap_or(raw.get()));
        }
        written.push('}');
        Ok(changed.then_some(written))
    }

    fn list(
        &self,
        variants: &Variants<'a>,
        text: &str,
        depth: usize,
    ) -> Result<Option<String>, Unreadable> {
        let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| Unreadable)?;
        let below = |index| {
            let lists = variants.that_take("array");
            Variants::of(self.root, lists.map(|variant| variant.item(index).collect()))
        };
        let places = variants.places();
        // All items after the items of `prefixItems` have the same schema.
        let rest = below(places);
        let mut changed = false;
        let mut written = String::from("[");
        for (index, raw) in items.iter().enumerate() {
            let inner = match index < places {
                true => self.value(&below(index), raw.get(), depth + 1)?,
                false => self.value(&rest, raw.get(), depth + 1)?,
            };
            changed |= inner.is_some();
            if index > 0 {
                written.push(',');
            }
            written.push_str(inner.as_deref().unwrap_or(raw.get()));
        }
        written.push(']');
        Ok(changed.then_some(written))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_nulls_that_stand_for_nothing_are_taken_out() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"type": "integer"},
                "b": {"type": ["string", "null"]},
                "c": {"type": "array", "items": {"$ref": "#/$defs/C"}},
            },
            "required": ["b"],
            "$defs": {"C": {"type": "object", "properties": {"d": {"$ref": "#/$defs/C"}}}},
        });
        let text = r#"{ "a": null, "b": null, "c": [{"d": null}, {"d": {"d" : null}}, 1e400], "x": null }"#;
        let expected = r#"{"b":null,"c":[{},{"d":{}},1e400],"x":null}"#;
        assert_eq!(remove_absent(&schema, text), expected);
        for same in [r#"{"a":1, "b":"null"}"#, "null", r#"{"a":null"#, r#"{"b":null,"b":null}"#] {
            assert_eq!(remove_absent(&schema, same), same);
        }
    }

    #[test]
    fn a_variant_is_told_by_its_tag() {
        let variant = |kind: &str, required: &[&str]| {
            json!({
                "type": "object",
                "properties": {"kind": {"const": kind}, "at": {"type": ["string", "null"]}},
                "required": required,
            })
        };
        let mut optional = variant("plain", &["kind"]);
        optional["properties"]["at"] = json!({"type": "string"});
        let schema = json!({"oneOf": [optional, variant("nullable", &["kind", "at"])]});
        assert_eq!(remove_absent(&schema, r#"{"kind":"plain","at":null}"#), r#"{"kind":"plain"}"#);
        let same = r#"{"kind":"nullable","at":null}"#;
        assert_eq!(remove_absent(&schema, same), same);
    }

    #[test]
    fn an_untagged_variant_is_told_by_its_keys() {
        let object = |properties: Value, required: Value| {
            json!({"type": "object", "properties": properties, "required": required,
                "additionalProperties": false})
        };
        let text = json!({"type": "string"});
        let schema = json!({"anyOf": [
            object(json!({"id": {"type": "integer"}, "note": text}), json!(["id"])),
            object(json!({"name": text, "note": text}), json!(["name", "note"])),
        ]});
        assert_eq!(remove_absent(&schema, r#"{"id":1,"note":null}"#), r#"{"id":1}"#);
        let same = r#"{"name":"a","note":null}"#;
        assert_eq!(remove_absent(&schema, same), same);

        let kinds = |kinds: Value, at: Value| {
            object(
                json!({"kind": {"$ref": "#/$defs/K"}, "sort": {"enum": kinds}, "at": at}),
                json!(["kind", "sort"]),
            )
        };
        let schema = json!({"oneOf": [
            kinds(json!(["a", "b"]), json!({"type": "string"})),
            kinds(json!(["c"]), json!({"type": ["string", "null"]})),
        ], "$defs": {"K": {"enum": ["k"]}}});
        let text = r#"{"kind":"k","sort":"b","at":null}"#;
        assert_eq!(remove_absent(&schema, text), r#"{"kind":"k","sort":"b"}"#);
        let same = r#"{"kind":"k","sort":"c","at":null}"#;
        assert_eq!(remove_absent(&schema, same), same);
    }

    #[test]
    fn a_null_that_variants_disagree_about_stays() {
        let variant = |at: Value| json!({"type": "object", "properties": {"at": at}});
        let schema = json!({"anyOf": [
            variant(json!({"type": "string"})), variant(json!({"type": ["integer", "null"]}))]});
        assert_eq!(remove_absent(&schema, r#"{"at":null}"#), r#"{"at":null}"#);
    }

    #[test]
    fn a_null_that_a_definition_takes_stays() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/Json"}, "b": {"allOf": [{"$ref": "#/$defs/Json"}]}},
            "$defs": {"Json": {"anyOf": [
                {"$ref": "#/$defs/Json"}, {"type": "array", "items": {"$ref": "#/$defs/Json"}},
                {"type": ["null", "boolean"]}]}},
        });
        let same = r#"{"a":null,"b":null}"#;
        assert_eq!(remove_absent(&schema, same), same);
    }

    #[test]
    fn keys_beside_references_and_parts_are_known() {
        let text = json!({"type": "string"});
        let schema = json!({
            "type": "object", "properties": {"own": text}, "allOf": [{"$ref": "#/$defs/A"}],
            "oneOf": [{"properties": {"kind": {"const": "x"}, "x": text}, "required": ["kind"]},
                {"properties": {"kind": {"const": "y"}}, "required": ["kind"]}],
            "$defs": {"A": {"type": "object", "properties": {"part": text}}},
        });
        let nulls = r#"{"own":null,"part":null,"kind":"x","x":null}"#;
        assert_eq!(remove_absent(&schema, nulls), r#"{"kind":"x"}"#);
    }

    #[test]
    fn what_an_object_says_twice_is_left_to_be_refused() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "string"}, "b": {"type": "object", "properties": {"c": {"type": "string"}}}}});
        for same in [
            r#"{"a":"x","a":null}"#,
            r#"{"a":null,"\u0061":"x"}"#,
            r#"{"a":null,"b":{"c":null,"c":"x"}}"#,
        ] {
            assert_eq!(remove_absent(&schema, same), same);
        }
    }

    #[test]
    fn references_that_meet_again_are_followed_once() {
        let mut definitions = serde_json::Map::new();
        for level in 0..60 {
            let next = |words: &str| json!({"$ref": format!("#/$defs/{}", level + 1), "description": words});
            definitions.insert(level.to_string(), json!({"anyOf": [next("one"), next("other")]}));
        }
        let last = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        definitions.insert("60".to_owned(), last);
        let schema = json!({"$ref": "#/$defs/0", "$defs": definitions});
        assert_eq!(remove_absent(&schema, r#"{"a":null}"#), "{}");
    }
}
