//! Parses JSON, and notations that people and models often write instead of JSON, in one pass.
//!
//! - `uses` records every notation that is not JSON. So one parser serves for strict and for lenient reading.
//! - Only notations with one meaning are accepted: missing commas, unknown escapes and texts without quotes are
//!   refused.
//! - The nesting depth is limited, and the work is linear in the length of the text.

use super::MAX_DEPTH;
use super::duplicates::Duplicates;
use super::tree::{self, Node};
use crate::repairs::ChangeRule;

/// The maximum number of times that an array or object may be encoded as a text inside of a text.
const MOST_LAYERS: usize = 3;
/// The first characters of a text that may contain an array or object.
pub const HOLDS: [char; 4] = ['[', '{', '(', '"'];

/// A set of notations that are not JSON. Each notation is identified by the rule of the change that repairs it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Uses(u32);

impl Uses {
    pub fn add(&mut self, rule: ChangeRule) {
        self.0 |= 1 << rule as u32;
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn contains(self, rule: ChangeRule) -> bool {
        self.0 & (1 << rule as u32) != 0
    }

    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the rule of `all` that is in the set; [`ChangeRule::Syntax`] if there are several or none.
    pub fn rule(self, all: &[ChangeRule]) -> ChangeRule {
        let mut used = all.iter().copied().filter(|rule| self.contains(*rule));
        match (used.next(), used.next()) {
            (Some(only), None) => only,
            _ => ChangeRule::Syntax,
        }
    }
}

/// A parsed value, with the notations that it uses and its repeated keys.
#[derive(Debug)]
pub struct ParsedValue {
    pub node: Node,
    pub uses: Uses,
    pub duplicates: Duplicates,
}

/// Why the parser stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// The text does not have what these words describe at this byte.
    Wanted(usize, &'static str),
    /// The text ends inside of a value, before what these words describe.
    End(&'static str),
    /// Arrays and objects are nested deeper than allowed.
    Depth,
}

/// Reads a text that contains exactly one value.
pub fn parse(text: &str) -> Result<ParsedValue, Break> {
    Parser::new(text, 0).whole()
}

/// Parses a text that contains an array or object, even if the array or object was encoded as a text several times.
/// `depth` is the nesting depth of the text itself.
pub fn parse_nested(text: &str, depth: usize) -> Option<Node> {
    let mut text = text.trim().to_owned();
    for _ in 0..MOST_LAYERS {
        if !text.starts_with(HOLDS) {
            return None;
        }
        let parsed = Parser::new(&text, depth).whole().ok()?;
        match parsed.node {
            Node::Text(inner) => inner.trim().clone_into(&mut text),
            held if parsed.duplicates.is_empty() => return Some(held),
            _ => return None,
        }
    }
    None
}

/// Parses a text that contains exactly one value. Closing brackets may be missing at the end of the text.
pub fn parse_closing(text: &str) -> Result<ParsedValue, Break> {
    let mut parser = Parser::new(text, 0);
    parser.closing = true;
    parser.whole()
}

/// Parses the first value that a text contains. The text may have words before and after the value, and closing brackets
/// may be missing.
pub fn parse_within(text: &str) -> Option<Node> {
    if let Ok(parsed) = parse_closing(text.trim()) {
        return Some(parsed.node);
    }
    let start = text.find(['{', '['])?;
    let mut parser = Parser::new(&text[start..], 0);
    parser.closing = true;
    parser.value().ok()
}

pub struct Parser<'t> {
    pub text: &'t str,
    pub position: usize,
    depth: usize,
    pub uses: Uses,
    pub duplicates: Duplicates,
    /// Whether closing brackets that are missing at the end of the text are added.
    closing: bool,
}

pub type Outcome<T> = Result<T, Break>;

impl<'t> Parser<'t> {
    pub fn new(text: &'t str, depth: usize) -> Self {
        Self {
            text,
            position: 0,
            depth,
            uses: Uses::default(),
            duplicates: Duplicates::default(),
            closing: false,
        }
    }

    fn whole(mut self) -> Outcome<ParsedValue> {
        self.space()?;
        let node = self.value()?;
        self.space()?;
        match self.byte() {
            None => Ok(ParsedValue { node, uses: self.uses, duplicates: self.duplicates }),
            Some(_) => Err(Break::Wanted(self.position, "the end")),
        }
    }

    pub fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    pub fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    pub fn takes(&mut self, byte: u8) -> bool {
        let takes = self.byte() == Some(byte);
        self.position += usize::from(takes);
        takes
    }

    pub fn fail<T>(&self, what: &'static str) -> Outcome<T> {
        Err(if self.position < self.text.len() {
            Break::Wanted(self.position, what)
        } else {
            Break::End(what)
        })
    }

    /// Skips white space and comments.
    pub fn space(&mut self) -> Outcome<()> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.position += 1,
                Some(b'#') => self.line_comment(),
                Some(b'/') if self.rest().starts_with("//") => self.line_comment(),
                Some(b'/') if self.rest().starts_with("/*") => {
                    let Some(length) = self.rest()[2..].find("*/") else {
                        return Err(Break::End("the end of a comment"));
                    };
                    self.position += length + 4;
                    self.uses.add(ChangeRule::Comment);
                }
                _ => return Ok(()),
            }
        }
    }

    fn line_comment(&mut self) {
        let rest = self.rest();
        self.position += rest.find('\n').unwrap_or(rest.len());
        self.uses.add(ChangeRule::Comment);
    }

    /// Reads the value at the cursor.
    pub fn value(&mut self) -> Outcome<Node> {
        match self.byte() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(b']'),
            Some(b'(') => self.array(b')'),
            Some(b'"') => self.string().map(Node::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.literal(),
            Some(b'\'' | 0x80..) => self.string().map(Node::Text),
            _ => self.fail("a value"),
        }
    }

    fn literal(&mut self) -> Outcome<Node> {
        let word = self.word();
        let node = match word {
            "true" | "True" => Node::Bool(true),
            "false" | "False" => Node::Bool(false),
            "null" | "None" => Node::Null,
            _ => return self.fail("a value"),
        };
        if word.starts_with(|first: char| first.is_ascii_uppercase()) {
            self.uses.add(ChangeRule::Python);
        }
        self.position += word.len();
        Ok(node)
    }

    /// Returns the letters, digits and underscores at the cursor.
    pub fn word(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        &rest[..end.unwrap_or(rest.len())]
    }

    fn number(&mut self) -> Outcome<Node> {
        let rest = self.rest();
        let Some(length) = tree::number_end(rest.as_bytes()) else {
            return self.fail("a number");
        };
        let after = rest.as_bytes().get(length);
        if after.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_')) {
            return self.fail("a number");
        }
        self.position += length;
        Ok(Node::Number(rest[..length].to_owned()))
    }

    fn array(&mut self, close: u8) -> Outcome<Node> {
        self.enter()?;
        let is_tuple = close == b')';
        if is_tuple {
            self.uses.add(ChangeRule::Python);
        }
        let mut items = Vec::new();
        let mut comma = true;
        loop {
            self.space()?;
            if self.takes(close) {
                break;
            }
            if !comma {
                if self.closes_here(items.last()) {
                    break;
                }
                return self.fail("a comma or a closing bracket");
            }
            let known = self.duplicates.known();
            let item = self.value()?;
            self.duplicates.place(known, || items.len().to_string());
            items.push(item);
            self.space()?;
            comma = self.takes(b',');
        }
        // In Python, `(1)` is the number 1, and `(1,)` is a tuple.
        if is_tuple && items.len() == 1 && !comma {
            return Err(Break::Wanted(self.position, "a comma, which makes a tuple"));
        }
        self.trailing(comma && !items.is_empty() && !is_tuple);
        self.depth -= 1;
        Ok(Node::Array(items))
    }

    fn object(&mut self) -> Outcome<Node> {
        self.enter()?;
        let mut entries: Vec<(String, Node)> = Vec::new();
        let mut comma = true;
        loop {
            self.space()?;
            if self.takes(b'}') {
                break;
            }
            if !comma {
                if self.closes_here(entries.last().map(|(_, value)| value)) {
                    break;
                }
                return self.fail("a comma or a closing brace");
            }
            let key = self.key()?;
            self.space()?;
            if !self.takes(b':') {
                return self.fail("a colon");
            }
            self.space()?;
            let known = self.duplicates.known();
            let value = self.value()?;
            self.duplicates.place(known, || key.clone());
            entries.push((key, value));
            self.space()?;
            comma = self.takes(b',');
        }
        self.trailing(comma && !entries.is_empty());
        self.depth -= 1;
        self.duplicates.find(&entries);
        Ok(Node::Object(entries))
    }

    fn key(&mut self) -> Outcome<String> {
        let word = match self.byte() {
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$') => {
                let dollar = usize::from(self.byte() == Some(b'$'));
                self.position += dollar;
                let length = dollar + self.word().len();
                self.position -= dollar;
                &self.rest()[..length]
            }
            Some(b'"' | b'\'' | 0x80..) => return self.string(),
            _ => return self.fail("a key"),
        };
        self.position += word.len();
        self.uses.add(ChangeRule::BareKey);
        Ok(word.to_owned())
    }

    fn enter(&mut self) -> Outcome<()> {
        self.position += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Break::Depth) } else { Ok(()) }
    }

    fn trailing(&mut self, comma: bool) {
        if comma {
            self.uses.add(ChangeRule::TrailingComma);
        }
    }

    /// Returns whether the text ends here and lacks only closing brackets. If the text ends in a number, the number may
    /// lack digits, so no brackets are added.
    fn closes_here(&mut self, last: Option<&Node>) -> bool {
        let sure = last.is_some_and(|last| !matches!(last, Node::Number(_)))
            || !self.text.ends_with(|last: char| last.is_ascii_digit());
        let closes = self.closing && self.position == self.text.len() && sure;
        if closes {
            self.uses.add(ChangeRule::MissingBracket);
        }
        closes
    }
}
