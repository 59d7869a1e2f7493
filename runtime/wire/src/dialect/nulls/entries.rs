//! The entries of an object as text, so that repeated keys are detected and numbers remain exact.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Value, value::RawValue};

use toolwright_core::json::canonical;

/// The error for a text that cannot be parsed. No key of the text may be removed.
#[derive(Debug)]
pub(super) struct Unreadable;

/// The entries of an object. No key is repeated.
pub(super) struct Entries<'t>(pub(super) Vec<Entry<'t>>);

pub(super) struct Entry<'t> {
    pub(super) key: Cow<'t, str>,
    pub(super) raw: &'t RawValue,
    /// The value as canonical text, in which numbers are exact. Computed when the value is compared for the first time.
    canonical: OnceCell<Option<String>>,
}

impl Entry<'_> {
    pub(super) fn is_null(&self) -> bool {
        self.raw.get() == "null"
    }

    pub(super) fn is_one_of(&self, constants: &[Value]) -> bool {
        let spelt = self.canonical.get_or_init(|| canonical(self.raw.get()).ok());
        let Some(spelt) = spelt else { return false };
        // The numbers 1.0 and 1 are equal, but 9007199254740993 does not equal its neighbours.
        let same = |only: &Value| canonical(&only.to_string()).is_ok_and(|only| only == *spelt);
        constants.iter().any(same)
    }
}

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                let mut keys = HashSet::new();
                while let Some((key, raw)) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
                    if !keys.insert(key.clone()) {
                        return Err(A::Error::custom("a key repeats"));
                    }
                    entries.push(Entry { key, raw, canonical: OnceCell::new() });
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_compared_exactly_and_not_by_their_spelling() {
        let Entries(entries) = serde_json::from_str(r#"{"a":1.0,"b":9007199254740993}"#).unwrap();
        let [one, large] = &entries[..] else { panic!("two entries") };
        assert!(one.is_one_of(&[json!(1)]));
        assert!(large.is_one_of(&[json!(9_007_199_254_740_993_u64)]));
        assert!(!large.is_one_of(&[json!(9_007_199_254_740_992_u64)]));
    }
}
