//! The stored form of providers and calls: a provider is stored by its name, and a call with a version.

use std::borrow::Cow;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Provider, ToolCall};

/// The version of a stored call that this release writes. It is the only one that this release reads.
const VERSION: u32 = 1;

/// The error for a name that no provider has.
///
/// ```
/// use toolwright::provider::Provider;
///
/// let error = "openai".parse::<Provider>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "no provider is called `openai`, expected one of anthropic, openai-chat, openai-responses, gemini"
/// );
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("no provider is called `{name}`, expected one of {}", Provider::ALL.map(Provider::name).join(", "))]
#[non_exhaustive]
pub struct UnknownProvider {
    /// The name that was found.
    pub name: String,
}
toolwright_core::debug_as_sentence!(UnknownProvider);

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let provider = Self::ALL.into_iter().find(|provider| provider.name() == name);
        provider.ok_or_else(|| UnknownProvider { name: name.to_owned() })
    }
}

impl Serialize for Provider {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Provider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        name.parse().map_err(D::Error::custom)
    }
}

/// The stored form of a call. The arguments are a string, so that every store returns exactly the same bytes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCall<'a> {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = StoredCall {
            version: VERSION,
            id: self.id.as_deref().map(Cow::Borrowed),
            name: Cow::Borrowed(&self.name),
            arguments: Cow::Borrowed(&self.arguments),
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Reads only the version, so that the form of a newer release is recognised.
        #[derive(Deserialize)]
        struct StoredVersion {
            version: u32,
        }
        let value = serde_json::Value::deserialize(deserializer)?;
        let StoredVersion { version } =
            StoredVersion::deserialize(&value).map_err(D::Error::custom)?;
        if version != VERSION {
            return Err(D::Error::custom(format!(
                "the stored call has version {version}, this release reads version {VERSION}; read it with the release that wrote it"
            )));
        }
        let stored: StoredCall<'_> = serde_json::from_value(value).map_err(D::Error::custom)?;
        Ok(Self {
            id: stored.id.map(Cow::into_owned),
            name: stored.name.into_owned(),
            arguments: stored.arguments.into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_comes_back_byte_for_byte() {
        for id in [None, Some("call_1".to_owned())] {
            // No JSON, a repeated key, a number that no float holds: the reader of the input has to see them.
            for arguments in ["", "{\"a\": 1", r#"{"n":9007199254740993,"n":1}"#] {
                let call =
                    ToolCall { id: id.clone(), name: "f".into(), arguments: arguments.into() };
                let text = serde_json::to_string(&call).unwrap();
                assert_eq!(serde_json::from_str::<ToolCall>(&text).unwrap(), call);
                // A store may parse the text as JSON; the call must be readable from the parsed value, too.
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert_eq!(serde_json::from_value::<ToolCall>(value).unwrap(), call);
            }
        }
    }

    #[test]
    fn a_call_of_another_version_is_refused_by_its_version() {
        let newer = r#"{"version":2,"name":"f","input":{}}"#;
        let error = serde_json::from_str::<ToolCall>(newer).unwrap_err().to_string();
        assert!(error.contains("version 2") && error.contains("version 1"), "{error}");
        assert!(serde_json::from_str::<ToolCall>(r#"{"name":"f","arguments":"{}"}"#).is_err());
        let unknown = r#"{"version":1,"name":"f","arguments":"{}","also":1}"#;
        assert!(serde_json::from_str::<ToolCall>(unknown).is_err());
    }

    #[test]
    fn a_call_in_debug_form_shows_no_arguments() {
        let call = ToolCall { id: None, name: "f".into(), arguments: "hunter2".into() };
        assert!(!format!("{call:?}").contains("hunter2"));
    }

    #[test]
    fn every_provider_is_stored_by_its_name() {
        for provider in Provider::ALL {
            let text = serde_json::to_string(&provider).unwrap();
            assert_eq!(text, format!("\"{}\"", provider.name()));
            assert_eq!(serde_json::from_str::<Provider>(&text).unwrap(), provider);
        }
        assert!(serde_json::from_str::<Provider>("\"openai\"").is_err());
    }
}
