//! The changes that the repair of an input made.
//!
//! - The changes of one repair are in order: each change applies to the result of the changes before it.

use serde::{Deserialize, Serialize};

/// One change that the repair of an input made.
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
    /// The place of the change, as a JSON pointer (RFC 6901); empty for the whole input.
    pub pointer: String,
    /// The rule by which the input was changed.
    pub rule: ChangeRule,
    /// The earlier value at the place, as JSON text. If the text was not JSON, the raw text. For a rule about keys, the
    /// key as a JSON string.
    pub from: String,
    /// The new value at the place, as JSON text; empty if the place was removed.
    pub to: String,
}

/// The changes that the repair of one call's input made, for its caller, listeners and approvers.
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

    /// Lists the changes in the order in which they were made. A change that may contain a secret shows no values.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns whether the repair needed [`Repair::Lenient`](crate::Repair::Lenient).
    #[must_use]
    pub fn is_lenient(&self) -> bool {
        self.lenient
    }
}

/// The rule of a change: what was wrong with the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeRule {
    /// The input had a text such as `"yes"` instead of `true`.
    Boolean,
    /// The input had a text such as `"42"` instead of the integer `42`.
    Integer,
    /// The input had a text such as `"3.5"` instead of the number `3.5`.
    Number,
    /// The input had a number or boolean, such as `42`, instead of a text.
    Text,
    /// The input had an array or object encoded as a text.
    Stringified,
    /// The input had a single value instead of an array with that value.
    InArray,
    /// The input had an array of lines instead of one text.
    Joined,
    /// The input had `null` or `""` at an optional key that should be left out.
    Absent,
    /// The input had a key in another spelling: another case, or other separators between words.
    KeySpelling,
    /// The input had a declared alias of a parameter's name.
    Alias,
    /// The input had a key with a typing error.
    KeyTypo,
    /// The input had a choice in another spelling.
    ChoiceSpelling,
    /// The input had a choice with a typing error.
    ChoiceTypo,
    /// The input was inside of another object, such as `{"arguments": …}`.
    Wrapper,
    /// The input was empty, `null` or `""` instead of an empty object.
    NoArguments,
    /// The input had literals of Python: `True`, `None`, single quotes or tuples.
    Python,
    /// The input had a comma after the last item of an array or object.
    TrailingComma,
    /// The input had a comment.
    Comment,
    /// The input had a key without quotes.
    BareKey,
    /// The input had an unescaped control character or line break inside of a text.
    ControlCharacter,
    /// The input had typographic quotes around a text.
    SmartQuote,
    /// The input lacked closing brackets at its end.
    MissingBracket,
    /// The input was inside of a Markdown code fence.
    Fence,
    /// The input had other text before or after it.
    Prose,
    /// The input was inside of tags.
    Tag,
    /// The input was a call in the notation of a programming language, such as `read_file(path="a")`.
    Call,
    /// The input had one object twice.
    Repeated,
    /// The input had several notations that are not JSON.
    Syntax,
}

impl ChangeRule {
    /// Returns the name of the rule, as it is serialised.
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
            // A change that may contain a secret shows no values.
            write!(out, "{place}: changed ({name})")
        } else if self.to.is_empty() {
            write!(out, "{place}: {} was left out ({name})", self.from)
        } else {
            write!(out, "{place}: {} became {} ({name})", self.from, self.to)
        }
    }
}
