//! An object's entries as they are written, so that a repeated key is seen and a number keeps its
//! digits.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Value, value::RawValue};

/// The text is none that anything may be taken out of.
#[derive(Debug)]
pub(super) struct Unreadable;

/// Without repeated keys.
pub(super) struct Entries<'t>(pub(super) Vec<Entry<'t>>);

pub(super) struct Entry<'t> {
    pub(super) key: Cow<'t, str>,
    pub(super) raw: &'t RawValue,
    /// Read when it is first compared.
    value: OnceCell<Option<Value>>,
}

impl Entry<'_> {
    pub(super) fn is_null(&self) -> bool {
        self.raw.get() == "null"
    }

    pub(super) fn is_one_of(&self, constants: &[Value]) -> bool {
        let value = self.value.get_or_init(|| serde_json::from_str(self.raw.get()).ok());
        let Some(value) = value else { return false };
        // 1.0 is 1.
        let same =
            |only: &Value| only == value || (only.is_number() && only.as_f64() == value.as_f64());
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
                    entries.push(Entry { key, raw, value: OnceCell::new() });
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}
