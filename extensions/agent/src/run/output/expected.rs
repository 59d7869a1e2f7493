//! Identifies the output type in which a run ends, as the state records it, and compares two such types. Pure.

use std::fmt;

use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use toolwright::unstable::arguments::canonical;

/// The output type in which a run ends, as the state of the run records it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    /// The name of the output type.
    pub name: String,
    /// The digest of the type's schema without descriptions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub schema: String,
    /// How many answers since the last [`Said`](crate::StepInput::Said) were not a value of the type.
    #[serde(default)]
    pub invalid: u32,
}

impl Expected {
    pub(crate) fn of<T: JsonSchema>() -> Self {
        let schema = SchemaGenerator::default().into_root_schema_for::<T>();
        let shape = shape(schema.as_value()).to_string();
        let shape = canonical(&shape).unwrap_or(shape);
        let schema = hex::encode(Sha256::digest(shape));
        Self { name: T::schema_name().into_owned(), schema, invalid: 0 }
    }

    /// Returns whether both are the same type: they have the same name, and their schemas allow the same values.
    /// Compares only the names if an earlier release recorded one of the types without its schema.
    pub(crate) fn is_same_type(&self, other: &Self) -> bool {
        let is_recorded = !self.schema.is_empty() && !other.schema.is_empty();
        self.name == other.name && (!is_recorded || self.schema == other.schema)
    }

    /// Explains that a run ends in a value of this type, although a value of another type is requested.
    pub(crate) fn refuses(&self, given: &Self) -> String {
        match self.name == given.name {
            false => format!(
                "ends in a value of `{}`, and a value of `{}` is asked for; ask for it by `.typed::<{}>()`, or give the new task an id of its own",
                self.name, given.name, self.name
            ),
            true => format!(
                "ends in a value of {self}, and a value of {given} is asked for: the fields of `{}` have changed since; read the text of the result, or give the new task an id of its own",
                self.name
            ),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = self.schema.get(..8).unwrap_or(&self.schema);
        write!(formatter, "`{}` (schema {digest})", self.name)
    }
}

/// The members of a schema whose value maps names to schemas.
const BY_NAME: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// The members of a schema that do not restrict its values.
const WORDS: [&str; 6] = ["title", "description", "examples", "$comment", "default", "$schema"];

/// The members of a schema that contain values, which are not schemas.
const VALUES: [&str; 2] = ["const", "enum"];

/// Removes the descriptions from a schema.
fn shape(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let taken = members.iter().filter(|(key, _)| !WORDS.contains(&key.as_str()));
            let taken = taken.map(|(key, value)| {
                let value = match (key.as_str(), value) {
                    (key, Value::Object(named)) if BY_NAME.contains(&key) => {
                        let each = named.iter().map(|(name, it)| (name.clone(), shape(it)));
                        Value::Object(each.collect::<Map<_, _>>())
                    }
                    (key, value) if VALUES.contains(&key) => value.clone(),
                    (_, value) => shape(value),
                };
                (key.clone(), value)
            });
            Value::Object(taken.collect())
        }
        Value::Array(items) => items.iter().map(shape).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod before {
        /// What tea costs.
        #[toolwright::data]
        pub struct Quote {
            /// In cents.
            pub total: u32,
            pub title: Option<String>,
        }
    }

    mod reworded {
        /// What an article costs.
        #[toolwright::data]
        pub struct Quote {
            /// In cents, with taxes.
            pub total: u32,
            pub title: Option<String>,
        }
    }

    mod changed {
        /// What tea costs.
        #[toolwright::data]
        pub struct Quote {
            /// In cents.
            pub total: u32,
            pub description: Option<String>,
        }
    }

    #[test]
    fn a_type_is_known_by_its_name_and_its_fields_and_not_by_its_words() {
        let before = Expected::of::<before::Quote>();
        assert!(before.is_same_type(&Expected::of::<reworded::Quote>()));
        let changed = Expected::of::<changed::Quote>();
        assert!(!before.is_same_type(&changed));
        let why = before.refuses(&changed);
        assert!(why.contains("the fields of `Quote` have changed"), "{why}");
        assert!(!before.is_same_type(&Expected::of::<Vec<String>>()));
        assert!(!Expected::of::<Vec<u8>>().is_same_type(&Expected::of::<Vec<before::Quote>>()));
    }

    #[test]
    fn a_type_that_an_earlier_release_recorded_is_known_by_its_name() {
        let recorded: Expected = serde_json::from_str(r#"{"name":"Quote","invalid":1}"#).unwrap();
        assert!(recorded.is_same_type(&Expected::of::<before::Quote>()));
        assert!(!recorded.is_same_type(&Expected::of::<u8>()));
    }
}
