//! A recording: the exchanges between a client and a provider in one run, as JSON lines.
//!
//! The first line identifies the file, `{"recording":1,"provider":"anthropic"}`; each other line is one exchange:
//!
//! ```json
//! {"request":{"method":"POST","path":"/v1/messages","body":{}},"response":{"status":200,"body":{}}}
//! ```
//!
//! - Paths are relative to the base URL, so that a recording of one server can be served by another.
//! - Bodies are the text that was sent, without white space between tokens; a response that is not JSON has `text`
//!   instead of `body`.
//! - Request headers are not recorded, so neither is the key that a header carries.

mod error;
mod exchange;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use toolwright::provider::Provider;

pub use self::error::RecordingError;
pub use self::exchange::{Exchange, RecordedRequest, RecordedResponse};

/// The version of the format that this library writes, and the only one that it can read.
const VERSION: u32 = 1;

/// The exchanges of one run with a provider.
///
/// ```
/// use toolwright_agent::recording::Recording;
///
/// let text = r#"{"recording":1,"provider":"anthropic"}
/// {"request":{"method":"POST","path":"/v1/messages","body":{}},"response":{"status":200,"body":{}}}
/// "#;
/// let recording: Recording = text.parse()?;
/// assert_eq!(recording.provider().name(), "anthropic");
/// assert_eq!(recording.exchanges().len(), 1);
/// assert_eq!(recording.to_string(), text);
///
/// let newer = r#"{"recording":2,"provider":"anthropic"}"#.parse::<Recording>().unwrap_err();
/// assert_eq!(
///     newer.to_string(),
///     "line 1: found version 2 of the format, expected 1; read it with a newer version of this library"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Recording {
    provider: Provider,
    exchanges: Vec<Exchange>,
}

/// The first line of a recording: the provider and the version of the format.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    recording: u32,
    provider: String,
}

impl Recording {
    /// Makes a recording of these exchanges.
    #[must_use]
    pub fn new(provider: Provider, exchanges: Vec<Exchange>) -> Self {
        Self { provider, exchanges }
    }

    /// Reads a recording from a file.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a valid recording.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|error| RecordingError::Unreadable { path: path.to_owned(), error })?;
        text.parse()
    }

    /// Returns the provider that the exchanges were made with.
    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Lists the exchanges, in order.
    #[must_use]
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }
}

impl Header {
    pub(crate) fn of(provider: Provider) -> Self {
        Self { recording: VERSION, provider: provider.name().to_owned() }
    }

    fn provider(self) -> Result<Provider, RecordingError> {
        if self.recording != VERSION {
            return Err(RecordingError::Version { found: self.recording, expected: VERSION });
        }
        let found = Provider::ALL.into_iter().find(|it| it.name() == self.provider);
        found.ok_or(RecordingError::Provider { found: self.provider })
    }
}

impl FromStr for Recording {
    type Err = RecordingError;

    fn from_str(text: &str) -> Result<Self, RecordingError> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (_, first) = lines.next().ok_or(RecordingError::Empty)?;
        let header: Header = serde_json::from_str(first).map_err(|error| RecordingError::Line {
            line: 1,
            expected: "the first line",
            error,
        })?;
        let provider = header.provider()?;
        let exchanges = lines.map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| RecordingError::Line {
                line: index + 1,
                expected: "an exchange",
                error,
            })
        });
        Ok(Self { provider, exchanges: exchanges.collect::<Result<_, _>>()? })
    }
}

/// Writes the recording in the format of its file.
impl fmt::Display for Recording {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = serde_json::to_string(&Header::of(self.provider)).map_err(|_| fmt::Error)?;
        writeln!(formatter, "{header}")?;
        self.exchanges.iter().try_for_each(|exchange| {
            let line = serde_json::to_string(exchange).map_err(|_| fmt::Error)?;
            writeln!(formatter, "{line}")
        })
    }
}

#[cfg(test)]
mod tests;
