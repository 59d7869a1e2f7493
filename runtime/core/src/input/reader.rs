//! A cursor over one JSON text. The cursor is also a strict serde deserializer.
//!
//! - The reader is as strict as the schema of the target type. It refuses unknown and repeated keys, an array for a
//!   struct, `null` for an absent value, and a fraction for an integer.
//! - The cursor is always between two characters, and only moves forward while a value is read. After a fault it may be
//!   anywhere, and the caller has to rewind it before reading on.
//! - `place` is set right before an item or a field is read. It is `Field` again after the enclosing value is closed,
//!   so that a plain `T::deserialize` reads in field position.
//! - Reading allocates what the target type owns, and buffers for strings with escapes and for the keys of maps. Faults
//!   are made in separate functions, which are cold.

use serde::{Deserialize, de::Expected};

use super::{fault::Fault, problem::Rule, words};

/// Reads JSON strictly.
///
/// `T::deserialize(&mut reader)` reads a value in *field position*. There, `null` does not mean `None`: the key of an
/// optional value has to be left out instead. The items of arrays, the values of maps, and the contents of enum
/// variants and newtypes are in *element position*. There, `null` means `None`.
///
/// Strings without escapes are borrowed from the text. Arrays and objects may be nested 127 deep.
///
/// ```
/// # use toolwright::__private0::Reader;
/// let mut reader = Reader::new(" [1, 2.0, null] ");
/// let numbers: Vec<Option<u8>> = reader.read()?;
/// reader.finish()?;
/// assert_eq!(numbers, [Some(1), Some(2), None]);
/// # Ok::<(), toolwright::__private0::Fault>(())
/// ```
pub struct Reader<'de> {
    pub(super) text: &'de str,
    pub(super) position: usize,
    pub(super) depth: u8,
    pub(super) place: Place,
    /// Whether `null` means `None` in field position, too. Set for a value that is checked against its schema
    /// afterwards.
    pub(super) lenient: bool,
    /// The decoded form of the last string that contained escapes.
    pub(super) scratch: String,
}

/// Where the next value is. This decides what `null` means for an option.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The value of a key that may be left out.
    Field,
    /// The value of a tool's own parameter. Like a field, but in an option inside an option, `null` is the inner
    /// `None`.
    Parameter,
    /// A value that cannot be left out, such as an item of an array.
    Element,
}

/// The nesting depth that is refused. As in `serde_json`, values may be nested one level less deep.
const TOO_DEEP: u8 = crate::json::MAX_DEPTH as u8 + 1;

impl<'de> Reader<'de> {
    /// Makes a reader at the start of `text`.
    #[inline]
    #[must_use]
    pub fn new(text: &'de str) -> Self {
        Self {
            text,
            position: 0,
            depth: 0,
            place: Place::Field,
            lenient: false,
            scratch: String::new(),
        }
    }

    /// Makes a reader that reads `null` as `None` in field position, too. Use it for a value that is checked against
    /// its schema afterwards.
    #[cold]
    pub(crate) fn lenient(text: &'de str) -> Self {
        Self { lenient: true, ..Self::new(text) }
    }

    /// Returns the number of bytes that were read.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the text that was read since `start`, an earlier [`position`](Self::position).
    #[inline]
    #[must_use]
    pub fn since(&self, start: usize) -> &'de str {
        self.text.get(start..self.position).unwrap_or_default()
    }

    /// Reads a value in field position, as `T::deserialize` does. Its faults also quote the value that was found.
    ///
    /// # Errors
    /// The first fault of the value.
    #[inline]
    pub fn read<T: Deserialize<'de>>(&mut self) -> Result<T, Fault> {
        self.read_at(Place::Field)
    }

    /// Reads the value of a tool's own parameter.
    ///
    /// # Errors
    /// The first fault of the value.
    #[inline]
    pub(super) fn read_parameter<T: Deserialize<'de>>(&mut self) -> Result<T, Fault> {
        self.read_at(Place::Parameter)
    }

    #[inline]
    fn read_at<T: Deserialize<'de>>(&mut self, place: Place) -> Result<T, Fault> {
        self.skip_space();
        let start = self.position;
        self.place = place;
        T::deserialize(&mut *self).map_err(|fault| self.show(fault, start))
    }

    /// Checks that only white space follows.
    ///
    /// # Errors
    /// A fault of [`Rule::Syntax`] at the first other character.
    #[inline]
    pub fn finish(&mut self) -> Result<(), Fault> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.syntax("the end of the text")),
        }
    }

    /// Skips white space and returns the next byte, without consuming it.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.byte()
    }

    /// Returns the byte at the cursor.
    #[inline]
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    #[inline]
    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.position += 1;
        }
    }

    /// Skips the byte at the cursor. The caller has checked that it is ASCII.
    #[inline]
    pub(super) fn step(&mut self) {
        self.position += 1;
    }

    /// Skips an opening bracket.
    #[inline]
    pub(super) fn open(&mut self) -> Result<(), Fault> {
        if self.depth + 1 >= TOO_DEEP {
            return Err(self.too_deep());
        }
        self.depth += 1;
        self.position += 1;
        Ok(())
    }

    /// Skips a closing bracket.
    #[inline]
    pub(super) fn close(&mut self) {
        self.depth -= 1;
        self.position += 1;
        self.place = Place::Field;
    }

    /// Moves the cursor to the next item of an array or object. Skips the comma, unless the item is the first one. If
    /// there is no further item, returns `false`, with the cursor at the closing bracket.
    #[inline]
    pub(super) fn next(&mut self, first: bool, closing: u8) -> Result<bool, Fault> {
        match self.peek() {
            Some(byte) if byte == closing => Ok(false),
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.step();
                self.skip_space();
                Ok(true)
            }
            _ if closing == b']' => Err(self.syntax("a comma or ]")),
            _ => Err(self.syntax("a comma or }")),
        }
    }

    /// Skips the colon between key and value, and moves to the value.
    #[inline]
    pub(super) fn colon(&mut self) -> Result<(), Fault> {
        if self.peek() != Some(b':') {
            return Err(self.syntax("a colon"));
        }
        self.step();
        self.skip_space();
        Ok(())
    }

    /// Skips one of the words `true`, `false` and `null`.
    #[inline]
    pub(super) fn word(&mut self, word: &'static str) -> Result<(), Fault> {
        let rest = self.text.as_bytes().get(self.position..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.syntax("a JSON value"));
        }
        self.position += word.len();
        Ok(())
    }

    /// Moves the cursor back, so that reading can continue after a fault.
    #[cold]
    pub(super) fn rewind(&mut self, position: usize, depth: u8) {
        self.position = position;
        self.depth = depth;
        self.place = Place::Field;
    }

    /// Returns the text of the value that begins at `start`. If the value is not valid JSON, returns the rest of the
    /// text.
    #[cold]
    pub(super) fn value_at(&self, start: usize) -> &'de str {
        let mut reader = Reader::new(self.text);
        reader.position = start;
        match reader.skip_value() {
            Ok(value) => value,
            Err(_) => self.text.get(start..).unwrap_or_default(),
        }
    }

    /// Adds a quotation of the value at `start` to a fault that has none.
    #[cold]
    pub(super) fn show(&self, mut fault: Fault, start: usize) -> Fault {
        if fault.lacks_found() {
            fault.set_found(self.value_at(start));
        }
        fault
    }

    /// Makes the fault of a value at the cursor that is missing or has another type than expected.
    #[cold]
    pub(super) fn mismatch(&mut self, expected: &dyn Expected) -> Fault {
        self.mismatch_in_words(words::describe_expected(expected))
    }

    #[cold]
    pub(super) fn mismatch_in_words(&mut self, expected: String) -> Fault {
        match self.skip_value() {
            Ok(found) => Fault::new(Rule::Type, found, expected),
            Err(fault) => fault,
        }
    }

    /// Makes the fault of invalid JSON at the cursor.
    #[cold]
    pub(super) fn syntax(&self, expected: &str) -> Fault {
        let position = self.position.min(self.text.len());
        let before = self.text.get(..position).unwrap_or_default();
        let found = match self.text.get(position..).and_then(|rest| rest.chars().next()) {
            None => "the end of the text".to_owned(),
            Some(letter) if letter.is_control() => format!("U+{:04X}", u32::from(letter)),
            Some(letter) => letter.to_string(),
        };
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
        let found = format!("{found} at byte {position} (line {line}, column {column})");
        Fault::new(Rule::Syntax, &found, expected)
    }

    #[cold]
    fn too_deep(&self) -> Fault {
        let expected = format!("at most {} arrays and objects in one another", TOO_DEEP - 1);
        Fault::new(Rule::Depth, "deeper nesting", expected)
    }
}
