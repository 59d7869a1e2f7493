//! Parses texts in quotes of any kind, and their escapes.
//!
//! - An escape that JSON does not have is refused and not guessed: `\d` may belong to a path or a pattern.
//! - A text in typographic quotes must not contain quotes that could also be its end or the start of another text.

use super::parse::{Break, Outcome, Parser};
use crate::repairs::ChangeRule;

impl Parser<'_> {
    /// Parses the text in quotes that begins at the cursor.
    pub fn string(&mut self) -> Outcome<String> {
        let Some(open) = self.rest().chars().next() else { return self.fail("a text") };
        let close = match open {
            '"' => '"',
            '\'' => {
                self.uses.add(ChangeRule::Python);
                '\''
            }
            '“' | '”' | '„' => {
                self.uses.add(ChangeRule::SmartQuote);
                '”'
            }
            '‘' | '’' => {
                self.uses.add(ChangeRule::SmartQuote);
                '’'
            }
            _ => return self.fail("a value"),
        };
        self.position += open.len_utf8();
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(|letter: char| stops(letter, open, close)).unwrap_or(rest.len());
            text.push_str(&rest[..plain]);
            self.position += plain;
            let Some(letter) = rest[plain..].chars().next() else {
                return Err(Break::End("a closing quotation mark"));
            };
            if letter == close {
                self.position += letter.len_utf8();
                return Ok(text);
            }
            match letter {
                '\\' => self.escape(open, &mut text)?,
                '\0'..='\u{1f}' => {
                    self.uses.add(ChangeRule::ControlCharacter);
                    text.push(letter);
                    self.position += 1;
                }
                // Inside typographic quotes, another opening quote makes it unclear where the text ends. Inside “…”, a
                // plain double quote does, too.
                _ => return self.fail("one kind of quotes"),
            }
        }
    }

    fn escape(&mut self, open: char, text: &mut String) -> Outcome<()> {
        let start = self.position;
        let letter = match self.text.as_bytes().get(start + 1) {
            None => return Err(Break::End("a closing quotation mark")),
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'\'') => {
                self.uses.add(ChangeRule::Python);
                '\''
            }
            Some(b'x') if open == '\'' => {
                let code = self.hex(start + 2, 2)?;
                self.position += 2;
                char::from_u32(code).unwrap_or_default()
            }
            Some(b'u') => {
                let high = self.hex(start + 2, 4)?;
                self.position += 4;
                let mut code = Some(high);
                if (0xd800..0xdc00).contains(&high) {
                    let next = self.text.get(start + 6..start + 8);
                    code = None;
                    if next == Some("\\u") {
                        let low = self.hex(start + 8, 4)?;
                        if (0xdc00..0xe000).contains(&low) {
                            self.position += 6;
                            code = Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                        }
                    }
                }
                match code.and_then(char::from_u32) {
                    Some(letter) => letter,
                    None => return Err(Break::Wanted(start, "both halves of a character")),
                }
            }
            Some(_) => return Err(Break::Wanted(start, "an escape that JSON knows")),
        };
        text.push(letter);
        self.position += 2;
        Ok(())
    }

    fn hex(&self, from: usize, count: usize) -> Outcome<u32> {
        let digits = self.text.as_bytes().get(from..from + count);
        let Some(digits) = digits else { return Err(Break::End("a closing quotation mark")) };
        digits.iter().try_fold(0, |code, digit| match char::from(*digit).to_digit(16) {
            Some(digit) => Ok(code * 16 + digit),
            None => Err(Break::Wanted(from, "hexadecimal digits")),
        })
    }
}

fn stops(letter: char, open: char, close: char) -> bool {
    letter == close
        || letter == '\\'
        || letter < ' '
        || (!open.is_ascii() && matches!(letter, '"' | '“' | '„') && close == '”')
        || (!open.is_ascii() && letter == '‘')
}
