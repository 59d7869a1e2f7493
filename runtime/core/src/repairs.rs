//! The changes that a repair made.
//!
//! - The changes of one repair are in order: each is made in the result of the ones before it.

use serde::{Deserialize, Serialize};

/// One change of a repair.
///
/// ```
/// use toolwright::repair::{Change, ChangeRule};
///
/// let change = Change {
///     pointer: "/limit".to_owned(),
///     rule: ChangeRule::Integer,
///     from: "\"3\"".to_owned(),
///     to: "3".to_owned(),
/// };
/// let json = serde_json::json!({"pointer": "/limit", "rule": "integer", "from": "\"3\"", "to": "3"});
/// assert_eq!(serde_json::to_value(&change)?, json);
/// assert_eq!(change.to_string(), r#"/limit: "3" became 3 (integer)"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The place, as a JSON pointer (RFC 6901); empty for the whole input.
    pub pointer: String,
    /// The rule of the change.
    pub rule: ChangeRule,
    /// The value that was found: JSON text, or the raw text if that was not JSON. For a rule about keys, the key as a
    /// JSON string.
    pub from: String,
    /// The value that replaces it, as JSON text; empty if nothing does.
    pub to: String,
}

/// The changes of a repair of one call's input, for its caller, listeners and approvers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repairs {
    changes: Vec<Change>,
    lenient: bool,
}

impl Repairs {
    #[doc(hidden)]
    pub fn new(changes: Vec<Change>, lenient: bool) -> Self {
        Self { changes, lenient }
    }

    /// Lists the changes in the order in which they were made. A change that may concern a secret shows no values.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Reports whether the repair needed [`Repair::Lenient`](crate::Repair::Lenient).
    #[must_use]
    pub fn is_lenient(&self) -> bool {
        self.lenient
    }
}

/// The rule of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeRule {
    /// `"yes"` instead of `true`.
    Boolean,
    /// `"42"` instead of `42`.
    Integer,
    /// `"3.5"` instead of `3.5`.
    Number,
    /// `42` or `true` instead of a text.
    Text,
    /// A text that contains an array or object, instead of that array or object.
    Stringified,
    /// A value instead of an array with that value.
    InArray,
    /// An array of texts instead of their lines.
    Joined,
    /// `null` or `""` at an optional key, instead of no key.
    Absent,
    /// Another spelling of a key: case, or the marks between its words.
    KeySpelling,
    /// Another name of a parameter, declared as such.
    Alias,
    /// A key with a typing error.
    KeyTypo,
    /// Another spelling of one of the choices.
    ChoiceSpelling,
    /// A choice with a typing error.
    ChoiceTypo,
    /// The input inside one more object, such as `{"arguments": …}`.
    Wrapper,
    /// Nothing, `null` or `""` instead of an empty object.
    NoArguments,
    /// Literals of Python: `True`, `None`, single quotes, tuples.
    Python,
    /// A comma after the last item.
    TrailingComma,
    /// A comment.
    Comment,
    /// A key without quotes.
    BareKey,
    /// A control character or a line break inside a text.
    ControlCharacter,
    /// Typographic quotes around a text.
    SmartQuote,
    /// Closing brackets that are missing at the end.
    MissingBracket,
    /// A code fence around the input.
    Fence,
    /// Words around the input.
    Prose,
    /// Tags around the input.
    Tag,
    /// A call in the notation of a programming language, such as `read_file(path="a")`.
    Call,
    /// One object, written twice.
    Repeated,
    /// Several notations that are not JSON.
    Syntax,
}

impl ChangeRule {
    /// Returns the name of the rule as it is serialised.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Text => "text",
            Self::Stringified => "stringified",
            Self::InArray => "in_array",
            Self::Joined => "joined",
            Self::Absent => "absent",
            Self::KeySpelling => "key_spelling",
            Self::Alias => "alias",
            Self::KeyTypo => "key_typo",
            Self::ChoiceSpelling => "choice_spelling",
            Self::ChoiceTypo => "choice_typo",
            Self::Wrapper => "wrapper",
            Self::NoArguments => "no_arguments",
            Self::Python => "python",
            Self::TrailingComma => "trailing_comma",
            Self::Comment => "comment",
            Self::BareKey => "bare_key",
            Self::ControlCharacter => "control_character",
            Self::SmartQuote => "smart_quote",
            Self::MissingBracket => "missing_bracket",
            Self::Fence => "fence",
            Self::Prose => "prose",
            Self::Tag => "tag",
            Self::Call => "call",
            Self::Repeated => "repeated",
            Self::Syntax => "syntax",
        }
    }

    #[doc(hidden)]
    pub fn renames(self) -> bool {
        matches!(self, Self::KeySpelling | Self::Alias | Self::KeyTypo)
    }
}

impl Serialize for ChangeRule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.pointer.is_empty() { "input" } else { &self.pointer };
        let name = self.rule.name();
        if self.from.is_empty() && self.to.is_empty() {
            // A change that may concern a secret shows no values.
            write!(out, "{place}: changed ({name})")
        } else if self.to.is_empty() {
            write!(out, "{place}: {} was left out ({name})", self.from)
        } else {
            write!(out, "{place}: {} became {} ({name})", self.from, self.to)
        }
    }
}
