//! Skips a value that is not needed, and checks its syntax.
//!
//! - The code loops and does not recurse. Each open bracket is stored as one bit, because the depth limit bounds their
//!   number.

use super::{fault::Fault, reader::Reader};

/// The brackets that are open while a value is skipped.
#[derive(Default)]
struct Brackets {
    count: u32,
    /// One bit for each bracket, the innermost in the lowest bit. A set bit means an object.
    objects: u128,
}

impl<'de> Reader<'de> {
    /// Skips any value and returns its text.
    ///
    /// ```
    /// # use toolwright::__private0::Reader;
    /// let mut reader = Reader::new(" [1, {}] , 2");
    /// assert_eq!(reader.skip_value()?, "[1, {}]");
    /// # Ok::<(), toolwright::__private0::Fault>(())
    /// ```
    ///
    /// # Errors
    /// A fault of syntax or depth. Repeated keys are not detected.
    pub fn skip_value(&mut self) -> Result<&'de str, Fault> {
        self.skip_space();
        let start = self.position;
        let mut brackets = Brackets::default();
        while self.skip_to_end(&mut brackets)? {}
        Ok(self.since(start))
    }

    /// Skips one scalar or opening bracket, and all brackets that close after it. Returns `false` at the end of the
    /// value.
    fn skip_to_end(&mut self, brackets: &mut Brackets) -> Result<bool, Fault> {
        match self.peek() {
            Some(b'"') => self.skip_string()?,
            Some(b'-' | b'0'..=b'9') => {
                self.number_here()?;
            }
            Some(b't') => self.word("true")?,
            Some(b'f') => self.word("false")?,
            Some(b'n') => self.word("null")?,
            Some(bracket @ (b'[' | b'{')) => {
                self.open()?;
                brackets.push(bracket == b'{');
                if self.skip_comma(true, brackets)? {
                    return Ok(true);
                }
            }
            _ => return Err(self.syntax("a JSON value")),
        }
        while brackets.count > 0 {
            if self.skip_comma(false, brackets)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves to the next item, and skips the item's key in an object. If there is no item, skips the closing bracket
    /// and returns `false`.
    fn skip_comma(&mut self, first: bool, brackets: &mut Brackets) -> Result<bool, Fault> {
        let object = brackets.objects & 1 == 1;
        if !self.next(first, if object { b'}' } else { b']' })? {
            self.close();
            brackets.pop();
            return Ok(false);
        }
        if object {
            if self.peek() != Some(b'"') {
                return Err(self.syntax("a key in double quotes"));
            }
            self.skip_string()?;
            self.colon()?;
        }
        Ok(true)
    }
}

impl Brackets {
    fn push(&mut self, object: bool) {
        self.objects = self.objects << 1 | u128::from(object);
        self.count += 1;
    }

    fn pop(&mut self) {
        self.objects >>= 1;
        self.count -= 1;
    }
}
