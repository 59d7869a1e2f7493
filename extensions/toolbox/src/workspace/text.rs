//! The text of a file: UTF-8, and which line ends it has; pure.

use toolwright::ToolError;

use super::name::Name;

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// `\n`, or there is one line alone.
    Lf,
    /// `\r\n` everywhere.
    Crlf,
    /// Both.
    Mixed,
}

impl Ends {
    pub(crate) fn of(text: &str) -> Self {
        let all = text.matches('\n').count();
        match text.matches("\r\n").count() {
            0 => Self::Lf,
            crlf if crlf == all => Self::Crlf,
            _ => Self::Mixed,
        }
    }
}

/// The bytes of a file as text.
pub(crate) fn decoded(name: &Name, bytes: Vec<u8>) -> Result<String, ToolError> {
    if let Some(place) = bytes.iter().position(|byte| *byte == 0) {
        let message =
            format!("`{name}` is binary, with a zero byte at position {place}, expected text");
        return Err(ToolError::new("binary_file", message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[place];
        let message = format!(
            "`{name}` is not UTF-8, with byte 0x{byte:02x} at position {place}, expected UTF-8 text"
        );
        ToolError::new("not_utf8", message)
    })
}
