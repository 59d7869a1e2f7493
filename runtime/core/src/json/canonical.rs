//! Writes equal JSON values as equal texts.
//!
//! - Keys are sorted by their UTF-8 bytes, which is also the order of their code points. There is no white space.
//! - A string is escaped only where JSON requires it. Unicode is not normalised: texts with different code points are
//!   different.
//! - Numbers are exact, see [`number`](super::number). RFC 8785 is not used, because it converts numbers through a
//!   float, which turns 9007199254740993 into 9007199254740992.

use std::fmt::Write as _;

use super::MAX_DEPTH;
use super::number;
use super::parse::{Break, parse};
use super::tree::{Node, write_quoted};

/// Why a text is not accepted as arguments. The error does not quote the text, which may be secret.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// The text is not JSON.
    #[error(
        "the text is not JSON: expected {expected} at character {character}, found something else"
    )]
    Syntax {
        /// The position of the character, counted from 1.
        character: usize,
        /// What JSON allows at this position.
        expected: &'static str,
    },
    /// The text is incomplete.
    #[error("the text is not JSON: it ends where {expected} was expected")]
    Incomplete {
        /// What JSON requires at the end of the text.
        expected: &'static str,
    },
    /// The text is JSON as people or programs often write it, but not strict JSON.
    #[error(
        "the text is not strict JSON: it has a comment, a key or text without plain double quotes, an extra \
         comma, a word of another language or a raw control character; write it as JSON"
    )]
    Lenient,
    /// An object has the same key twice.
    #[error("the key at `{pointer}` is given twice; give it once")]
    Duplicate {
        /// The place of the repeated key, as a JSON pointer (RFC 6901).
        pointer: String,
    },
    /// Arrays and objects are nested too deep.
    #[error("arrays and objects are nested more than {most} deep; nest them less")]
    Depth {
        /// The maximum nesting depth.
        most: usize,
    },
    /// The text is JSON, but not an object; the input of a tool is an object.
    #[error("the arguments are {found}; expected an object")]
    NoObject {
        /// The kind of JSON value that the text contains.
        found: &'static str,
    },
    /// The defaults of the schema contain themselves, or are too many.
    #[error(
        "the defaults of the tool's schema fill its arguments without end, or with more than {most} values; take \
         out a default that contains itself"
    )]
    Defaults {
        /// The maximum number of default values that are filled in.
        most: usize,
    },
}
crate::debug_as_sentence!(ArgumentsError);

/// Returns the canonical text of a JSON value: equal values give equal texts, and different values give different
/// texts.
///
/// Two values are equal if they have the same keys and items, and texts with the same code points. Their numbers have
/// to be equal without rounding, such as `2`, `2.0` and `20e-1`.
///
/// ```
/// use toolwright::unstable::arguments::canonical;
///
/// let one = canonical(r#" {"limit": 2.0, "id": 9007199254740993, "path": "\u0061"} "#)?;
/// assert_eq!(one, r#"{"id":9007199254740993,"limit":2,"path":"a"}"#);
/// assert_eq!(canonical(r#"{"path":"a","limit":20e-1,"id":9007199254740993}"#)?, one);
/// assert!(canonical(r#"{"path":"a","path":"b"}"#).is_err());
/// # Ok::<(), toolwright::unstable::arguments::ArgumentsError>(())
/// ```
///
/// # Errors
/// When the text is not strict JSON, has a key twice in an object, or is nested more than 127 deep.
pub fn canonical(text: &str) -> Result<String, ArgumentsError> {
    Ok(canonical_of(&read(text)?))
}

/// Returns the canonical form of a parsed value, as JSON text.
pub fn canonical_of(node: &Node) -> String {
    let mut out = String::new();
    write(node, &mut out);
    out
}

/// Reads a text, which has to be strict JSON.
pub fn read(text: &str) -> Result<Node, ArgumentsError> {
    let parsed = parse(text).map_err(|broken| match broken {
        Break::Wanted(at, expected) => {
            let before = text.bytes().take(at).filter(|byte| byte & 0xc0 != 0x80).count();
            ArgumentsError::Syntax { character: before + 1, expected }
        }
        Break::End(expected) => ArgumentsError::Incomplete { expected },
        Break::Depth => ArgumentsError::Depth { most: MAX_DEPTH },
    })?;
    if !parsed.uses.is_empty() {
        return Err(ArgumentsError::Lenient);
    }
    match parsed.duplicates.pointers.into_iter().next() {
        Some(pointer) => Err(ArgumentsError::Duplicate { pointer }),
        None => Ok(parsed.node),
    }
}

fn write(node: &Node, out: &mut String) {
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(value) => write!(out, "{value}").expect("a string takes any text"),
        Node::Number(text) => out.push_str(&number::canonical(text)),
        Node::Text(text) => write_quoted(text, out),
        Node::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Node::Object(entries) => {
            let mut sorted: Vec<&(String, Node)> = entries.iter().collect();
            sorted.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            out.push('{');
            for (index, (key, value)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_quoted(key, out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
    }
}
