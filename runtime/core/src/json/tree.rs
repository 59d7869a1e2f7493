//! A JSON value that stores its numbers as text.
//!
//! - No number is converted through a float: it is written as it was read.
//! - An object preserves the order of its keys. The parser reports repeated keys separately, in `Duplicates`.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use super::pointer::unescape;
use super::special::special;

/// A JSON value that stores numbers as they were written, and the keys of objects in their order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    Null,
    Bool(bool),
    /// A number, as text in the syntax of a JSON number.
    Number(String),
    Text(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// Returns the value as JSON text, without white space.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(digits) => out.push_str(digits),
            Self::Text(text) => write_quoted(text, out),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(entries) => {
                out.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_quoted(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Converts the value for a validator; `None` if `serde_json` cannot represent a number.
    pub fn value(&self) -> Option<Value> {
        Some(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(digits) => Value::Number(serde_json::from_str::<Number>(digits).ok()?),
            Self::Text(text) => Value::String(text.clone()),
            Self::Array(items) => {
                Value::Array(items.iter().map(Self::value).collect::<Option<_>>()?)
            }
            Self::Object(entries) => {
                let entries = entries.iter().map(|(key, node)| Some((key.clone(), node.value()?)));
                Value::Object(entries.collect::<Option<Map<_, _>>>()?)
            }
        })
    }

    /// Converts a value of `serde_json`, such as a part of a schema.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(items) => Self::Array(items.iter().map(Self::of).collect()),
            Value::Object(entries) => {
                Self::Object(entries.iter().map(|(key, it)| (key.clone(), Self::of(it))).collect())
            }
        }
    }

    /// Returns the value at a JSON pointer in this value.
    pub fn at(&self, pointer: &str) -> Option<&Self> {
        segments(pointer).try_fold(self, |node, segment| match node {
            Self::Object(entries) => {
                entries.iter().find(|(key, _)| *key == segment).map(|(_, value)| value)
            }
            Self::Array(items) => items.get(segment.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Returns a mutable reference to the value at a JSON pointer.
    pub fn at_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        segments(pointer).try_fold(self, |node, segment| match node {
            Self::Object(entries) => {
                entries.iter_mut().find(|(key, _)| *key == segment).map(|(_, value)| value)
            }
            Self::Array(items) => items.get_mut(segment.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Returns whether the value is neither an array nor an object.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Self::Array(_) | Self::Object(_))
    }

    /// Estimates the work of visiting the whole value: one step for each value, and one for every 64 bytes of text.
    pub fn weight(&self) -> usize {
        1 + match self {
            Self::Null | Self::Bool(_) => 0,
            Self::Number(text) | Self::Text(text) => text.len() / 64,
            Self::Array(items) => items.iter().map(Self::weight).sum(),
            Self::Object(entries) => {
                entries.iter().map(|(key, value)| key.len() / 64 + value.weight()).sum()
            }
        }
    }

    /// Returns the nesting depth of the arrays and objects in the value.
    pub fn depth(&self) -> usize {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Object(entries) => {
                1 + entries.iter().map(|(_, value)| value.depth()).max().unwrap_or(0)
            }
            _ => 0,
        }
    }
}

/// Returns `text` as a JSON string, with its quotes.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_quoted(text, &mut out);
    out
}

pub fn write_quoted(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut copied = 0;
    loop {
        let at = special(text.as_bytes(), copied);
        out.push_str(&text[copied..at]);
        let Some(byte) = text.as_bytes().get(at) else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte => write!(out, "\\u{byte:04x}").expect("a string takes any text"),
        }
        copied = at + 1;
    }
    out.push('"');
}

fn segments(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescape)
}

/// Adds a segment to a pointer.
pub fn push_segment(pointer: &mut String, key: &str) {
    pointer.push('/');
    if key.contains(['~', '/']) {
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(key);
    }
}

/// Returns whether a number is an integer by the rules of JSON Schema: `2.0` and `1e3` are integers.
///
/// The function reads the text only, so the work is linear in its length, however large the exponent is.
pub fn is_integral(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    if whole.trim_start_matches('0').is_empty() && fraction.is_empty() {
        return true;
    }
    let down = exponent.starts_with('-');
    let exponent = exponent.trim_start_matches(['+', '-']).trim_start_matches('0');
    let exponent: usize = match exponent {
        "" => 0,
        digits => digits.parse().unwrap_or(usize::MAX),
    };
    let zeros = whole.len() - whole.trim_end_matches('0').len();
    match (fraction.is_empty(), down) {
        (true, true) => exponent <= zeros,
        (true, false) => true,
        (false, true) => false,
        (false, false) => exponent >= fraction.len(),
    }
}

/// Returns whether `text` has the syntax of a JSON number.
pub fn is_number(text: &str) -> bool {
    number_end(text.as_bytes()) == Some(text.len())
}

/// Returns the length of the JSON number at the start of `bytes`; `None` if there is none.
pub fn number_end(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        bytes.get(from..).unwrap_or_default().iter().take_while(|it| it.is_ascii_digit()).count()
    };
    let mut end = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(end);
    if whole == 0 || (whole > 1 && bytes.get(end) == Some(&b'0')) {
        return None;
    }
    end += whole;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if fraction == 0 {
            return None;
        }
        end += 1 + fraction;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent == 0 {
            return None;
        }
        end += 1 + sign + exponent;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_told_by_their_digits() {
        let integers = ["0", "-0", "7", "2.0", "1e3", "1.50e1", "1200e-2", "0.0e-9", "0e99"];
        for number in integers {
            assert!(is_number(number) && is_integral(number), "{number}");
        }
        for number in ["3.5", "1e-1", "1.25e1", "1200e-3", "17.32", "1.5e-1"] {
            assert!(is_number(number) && !is_integral(number), "{number}");
        }
        assert!(is_integral("1e99999999999999999999999"));
        assert!(!is_integral("1e-99999999999999999999999"));
    }

    #[test]
    fn only_numbers_of_json_are_numbers() {
        for text in ["", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "1_0", "NaN", "1 "] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn a_text_is_written_as_json_reads_it() {
        let text = "a\"b\\c\nd\u{1}é\u{7f}😀/";
        assert_eq!(serde_json::from_str::<String>(&quote(text)).unwrap(), text);
    }

    #[test]
    fn a_pointer_leads_to_a_place() {
        let node = Node::of(&serde_json::json!({"a/b": [1, {"~": 2}]}));
        assert_eq!(node.at("/a~1b/1/~0"), Some(&Node::Number("2".into())));
        assert_eq!(node.at("/a~1b/9"), None);
        assert_eq!(node.at(""), Some(&node));
    }
}
