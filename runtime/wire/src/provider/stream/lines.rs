//! Parses server-sent events: turns bytes, in pieces of any size, into the data of each event.
//!
//! Existing crates parse an asynchronous stream or an HTTP body, which this crate does not have.

use super::StreamError;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Splits bytes into lines, and lines into events.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beginning of a line whose end has not arrived yet.
    line: Vec<u8>,
    /// The data lines of the current event, joined by line breaks.
    data: String,
    has_data: bool,
    /// Whether the last line ended with a carriage return. A line feed that follows then belongs to the same line end.
    after_return: bool,
    has_begun: bool,
}

impl Lines {
    /// Reads the next bytes, and passes the data of each event that they complete to `event`.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        mut event: impl FnMut(&str) -> Result<(), StreamError>,
    ) -> Result<(), StreamError> {
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, rest) = bytes.split_at(end);
            if self.line.is_empty() {
                self.line(line, &mut event)?;
            } else {
                self.line.extend_from_slice(line);
                let line = std::mem::take(&mut self.line);
                self.line(&line, &mut event)?;
            }
            bytes = match rest {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_return = true;
                    &[]
                }
                rest => &rest[1..],
            };
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns how many bytes of an incomplete event have arrived.
    pub(super) fn pending(&self) -> usize {
        self.line.len() + self.data.len()
    }

    fn line(
        &mut self,
        line: &[u8],
        event: &mut impl FnMut(&str) -> Result<(), StreamError>,
    ) -> Result<(), StreamError> {
        let mut line = std::str::from_utf8(line)?;
        if !self.has_begun {
            self.has_begun = true;
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            if self.has_data {
                self.has_data = false;
                let data = std::mem::take(&mut self.data);
                return event(&data);
            }
            return Ok(());
        }
        // The other fields, such as the kind of the event, are repeated in the data.
        let Some(data) = line.strip_prefix("data:") else { return Ok(()) };
        if self.has_data {
            self.data.push('\n');
        }
        self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        self.has_data = true;
        Ok(())
    }
}
