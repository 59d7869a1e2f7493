//! Reads a line as a call: `{"tool", "arguments"}`.

use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::line::{NoTool, Tool, in_line};

#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: Tool,
    /// The arguments as the model sent them.
    pub(super) arguments: String,
}

/// Why a line is not a call.
#[derive(Debug)]
pub(super) enum NoCall {
    Syntax(String),
    NoObject,
    NoTool(NoTool),
    MissingTool,
    MissingArguments,
    Arguments(String),
}

#[derive(Deserialize)]
struct WrittenCall<'l> {
    #[serde(borrow)]
    tool: Option<&'l RawValue>,
    #[serde(borrow, default, deserialize_with = "read_given")]
    arguments: Option<&'l RawValue>,
}

/// Reads `null` as a value too, since a model may have sent it.
fn read_given<'l, D: Deserializer<'l>>(deserializer: D) -> Result<Option<&'l RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl Call {
    /// Parses a line as a call. Returns the tool's name too, even of a line that is not a call.
    pub(super) fn of(line: &[u8]) -> (Option<String>, Result<Self, NoCall>) {
        let written: WrittenCall<'_> = match serde_json::from_slice(line) {
            // Serde would also read an array as this struct.
            Ok(_) if !line.trim_ascii_start().starts_with(b"{") => {
                return (None, Err(NoCall::NoObject));
            }
            Ok(written) => written,
            Err(error) if error.is_data() && !line.trim_ascii_start().starts_with(b"{") => {
                return (None, Err(NoCall::NoObject));
            }
            Err(error) => return (None, Err(NoCall::Syntax(in_line(&error)))),
        };
        let Some(tool) = written.tool else { return (None, Err(NoCall::MissingTool)) };
        let name = crate::line::name_of(tool.get().as_bytes());
        (name, Self::with(tool, written.arguments))
    }

    fn with(tool: &RawValue, arguments: Option<&RawValue>) -> Result<Self, NoCall> {
        let tool = Tool::of(tool.get().as_bytes()).map_err(NoCall::NoTool)?;
        let arguments = arguments.ok_or(NoCall::MissingArguments)?.get();
        let arguments = if arguments.starts_with('"') {
            serde_json::from_str(arguments).map_err(|error| NoCall::Arguments(in_line(&error)))?
        } else {
            arguments.to_owned()
        };
        Ok(Self { tool, arguments })
    }
}

impl fmt::Display for NoCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => write!(
                formatter,
                "the line cannot be read: {error}; write each call as one JSON object on a line of its own"
            ),
            Self::NoObject => formatter.write_str(
                "the line is not an object, expected {\"tool\": {\"name\", \"input_schema\"}, \"arguments\"}",
            ),
            Self::NoTool(problem) => write!(formatter, "`tool` is not a tool: {problem}"),
            Self::MissingTool => formatter
                .write_str("`tool` is missing, expected {\"name\", \"input_schema\"}"),
            Self::MissingArguments => formatter.write_str(
                "`arguments` is missing, expected the text that the model sent, or an object",
            ),
            Self::Arguments(error) => write!(
                formatter,
                "`arguments` is not text: {error}; write what the model sent as a JSON string"
            ),
        }
    }
}
