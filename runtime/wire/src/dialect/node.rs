//! JSON with a fixed order of keys, which does not depend on the features of `serde_json`. Keywords are in a fixed
//! order, properties in the order of their declaration, and other keys in alphabetical order.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

/// A JSON value whose objects preserve the order in which their keys were inserted.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Plain(Value),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// The order in which the keywords of a schema are written.
const KEYWORDS: &[&str] = &[
    "$ref",
    "type",
    "nullable",
    "title",
    "description",
    "format",
    "enum",
    "const",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "prefixItems",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "propertyOrdering",
    "patternProperties",
    "required",
    "additionalProperties",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "default",
    "examples",
];

impl Node {
    /// Converts a value of `serde_json`, and sorts the keys of its objects.
    pub(super) fn from_sorted(value: &Value) -> Self {
        match value {
            Value::Object(object) => {
                let mut entries: Vec<_> = object
                    .iter()
                    .map(|(key, value)| (key.clone(), Self::from_sorted(value)))
                    .collect();
                entries.sort_by(|(one, _), (other, _)| one.cmp(other));
                Self::Object(entries)
            }
            Value::Array(items) => Self::List(items.iter().map(Self::from_sorted).collect()),
            plain => Self::Plain(plain.clone()),
        }
    }

    /// Makes a schema from its keywords, in the order of writing.
    pub(super) fn schema(mut keywords: Vec<(String, Self)>) -> Self {
        keywords.sort_by(|(one, _), (other, _)| (rank(one), one).cmp(&(rank(other), other)));
        Self::Object(keywords)
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Plain(Value::String(text.into()))
    }

    pub(super) fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(entries) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Plain(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}

/// Returns the keywords of a schema in the order of writing.
pub(super) fn in_order(object: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut keywords: Vec<_> =
        object.iter().map(|(keyword, value)| (keyword.as_str(), value)).collect();
    keywords.sort_by_key(|(keyword, _)| (rank(keyword), *keyword));
    keywords
}

/// Ranks a keyword. Unknown keywords follow the known ones, and `$defs` comes last.
fn rank(keyword: &str) -> usize {
    match KEYWORDS.iter().position(|known| *known == keyword) {
        Some(rank) => rank,
        None if keyword == "$defs" => KEYWORDS.len() + 1,
        None => KEYWORDS.len(),
    }
}

impl From<bool> for Node {
    fn from(value: bool) -> Self {
        Self::Plain(value.into())
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plain(value) => value.serialize(serializer),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}
