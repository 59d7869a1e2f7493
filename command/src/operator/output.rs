//! Writes results: text for people, or one JSON object per line for programs.

use std::fmt::Display;
use std::io::{self, Write as _};

use serde::Serialize;
use toolwright::printable;

use super::Stop;

/// The format that the command line asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Text,
    Json,
}

impl Output {
    /// Writes a result as JSON or as text. The text has to contain its own line breaks.
    pub(crate) fn write(
        self,
        object: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), Stop> {
        match self {
            Self::Json => self.object(object),
            Self::Text => self.text(text()),
        }
    }

    pub(crate) fn object(self, object: &impl Serialize) -> Result<(), Stop> {
        let line = serde_json::to_string(object)
            .map_err(|error| Stop::new(crate::Exit::Failed, format!("no JSON: {error}")))?;
        self.text(format_args!("{}\n", printable::json(&line)))
    }

    /// Writes text unchanged, with no line break added.
    pub(crate) fn text(self, text: impl Display) -> Result<(), Stop> {
        let mut output = io::stdout().lock();
        write!(output, "{text}")
            .and_then(|()| output.flush())
            .map_err(|error| Stop::unwritten(&error))
    }
}
