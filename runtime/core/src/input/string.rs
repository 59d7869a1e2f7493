//! Reads JSON strings. They are scanned several bytes at a time, and decoded only if they have escapes.
//!
//! - A string without escapes is a slice of the text. A string with escapes is decoded into the scratch buffer.
//! - A skipped string is checked as strictly as a decoded one.

use super::{fault::Fault, problem::Rule, reader::Reader};
use crate::json::special::special;

/// Where the text of a string that was just read is stored.
#[derive(Clone, Copy)]
pub(super) enum Text<'de> {
    /// The string is borrowed from the input's text.
    Borrowed(&'de str),
    /// The decoded string is in the reader's scratch buffer.
    Scratch,
}

impl<'de> Reader<'de> {
    /// Reads the string that begins at the cursor with its opening quote.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Text<'de>, Fault> {
        let start = self.position + 1;
        let end = special(self.text.as_bytes(), start);
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.position = end + 1;
            return Ok(Text::Borrowed(self.text.get(start..end).unwrap_or_default()));
        }
        self.decode(start, end)?;
        Ok(Text::Scratch)
    }

    /// Reads the key of an object. Any value but a string is a fault.
    #[inline]
    pub(super) fn key(&mut self) -> Result<Text<'de>, Fault> {
        match self.peek() {
            Some(b'"') => self.string(),
            _ => Err(self.syntax("a key in double quotes")),
        }
    }

    /// Returns the text of a string that was just read.
    #[inline]
    pub(super) fn resolve(&self, text: Text<'de>) -> &str {
        match text {
            Text::Borrowed(text) => text,
            Text::Scratch => &self.scratch,
        }
    }

    /// Skips the string that begins at the cursor with its opening quote.
    pub(super) fn skip_string(&mut self) -> Result<(), Fault> {
        self.position += 1;
        loop {
            self.position = special(self.text.as_bytes(), self.position);
            match self.byte() {
                Some(b'"') => {
                    self.step();
                    return Ok(());
                }
                Some(b'\\') => {
                    self.escape()?;
                }
                _ => return Err(self.broken_string()),
            }
        }
    }

    /// Decodes the string that begins at `start` again, for a message.
    #[cold]
    pub(super) fn string_at(&self, start: usize) -> String {
        let mut reader = Reader::new(self.text);
        reader.position = start;
        match reader.string() {
            Ok(text) => reader.resolve(text).to_owned(),
            Err(_) => String::new(),
        }
    }

    fn decode(&mut self, mut start: usize, mut end: usize) -> Result<(), Fault> {
        self.scratch.clear();
        loop {
            self.scratch.push_str(self.text.get(start..end).unwrap_or_default());
            self.position = end;
            match self.byte() {
                Some(b'"') => {
                    self.step();
                    return Ok(());
                }
                Some(b'\\') => {
                    let letter = self.escape()?;
                    self.scratch.push(letter);
                }
                _ => return Err(self.broken_string()),
            }
            start = self.position;
            end = special(self.text.as_bytes(), start);
        }
    }

    /// Reads the escape sequence that begins at the cursor with its backslash.
    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.position;
        self.step();
        let letter = match self.byte() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => return Err(self.syntax("one of \" \\ / b f n r t u after the backslash")),
        };
        self.step();
        Ok(letter)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, Fault> {
        let first = self.four_digits()?;
        let code = match first {
            0xD800..=0xDBFF => {
                if self.byte() != Some(b'\\') {
                    return Err(self.lone_surrogate(start));
                }
                self.step();
                if self.byte() != Some(b'u') {
                    return Err(self.lone_surrogate(start));
                }
                match self.four_digits()? {
                    second @ 0xDC00..=0xDFFF => {
                        0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)
                    }
                    _ => return Err(self.lone_surrogate(start)),
                }
            }
            other => other,
        };
        char::from_u32(code).ok_or_else(|| self.lone_surrogate(start))
    }

    /// Reads `u` and the four hexadecimal digits after it.
    fn four_digits(&mut self) -> Result<u32, Fault> {
        self.step();
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.byte().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.syntax("four hexadecimal digits after \\u"));
            };
            code = code << 4 | digit;
            self.step();
        }
        Ok(code)
    }

    #[cold]
    fn lone_surrogate(&self, start: usize) -> Fault {
        let found = self.text.get(start..start + 6).unwrap_or_default();
        let found = format!("{found} at byte {start}");
        Fault::new(Rule::Syntax, &found, "both halves of a surrogate pair")
    }

    #[cold]
    fn broken_string(&self) -> Fault {
        match self.byte() {
            None => self.syntax("a closing quote"),
            Some(_) => self.syntax("an escape in place of the control character"),
        }
    }
}
