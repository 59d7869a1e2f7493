//! Problems of a call's input, described for a person and a model.
//!
//! - A problem can be read on its own: it contains the place, the rule, what was found and what was expected.
//! - Its text is one line in lower case, without a period.

use std::cell::Cell;
use std::{fmt, ops::Deref};

use super::fault::Fault;
use super::words;

/// One thing wrong with a call's input.
///
/// ```
/// # use toolwright::__private0::{Problem, Rule};
/// let mut problem = Problem::new(Rule::Type, "\"abc\"", "an integer");
/// problem.pointer = "/offset".to_owned();
/// assert_eq!(problem.to_string(), "/offset: found \"abc\", expected an integer");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The place of the problem, as a JSON pointer (RFC 6901). Empty if the problem concerns the whole input.
    pub pointer: String,
    /// The rule that the input broke.
    pub rule: Rule,
    /// The value at the place, shortened to at most 60 characters. Empty if there is no value.
    pub found: String,
    /// What was expected, such as "an integer from 0 to 255". For [`Rule::Other`], the message of the type that refused
    /// the value.
    pub expected: String,
    /// The known key or choice that is most similar to what was given.
    pub near: Option<String>,
}

/// The rule that an input broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// The text is not JSON. The rest of the text was not read.
    Syntax,
    /// The value has another type than the expected one.
    Type,
    /// The key is not one of the object's keys.
    UnknownKey,
    /// The object has the same key twice.
    DuplicateKey,
    /// The key is required, and the input does not have it.
    MissingKey,
    /// The value is `null`, which is not allowed here. To give no value, the key has to be left out.
    Null,
    /// The number is outside the bounds.
    Range,
    /// The text, array or map is longer or shorter than allowed.
    Length,
    /// The value is not one of the choices.
    Choice,
    /// The value has the right type, but is not one of the values that the type allows.
    Value,
    /// Arrays and objects are nested deeper than allowed.
    Depth,
    /// The value breaks a rule of its own type, such as one in `try_from`.
    Other,
}

impl Rule {
    /// Returns the name of the rule, for programs.
    ///
    /// ```
    /// # use toolwright::__private0::Rule;
    /// assert_eq!(Rule::UnknownKey.name(), "unknown_key");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Type => "type",
            Self::UnknownKey => "unknown_key",
            Self::DuplicateKey => "duplicate_key",
            Self::MissingKey => "missing_key",
            Self::Null => "null",
            Self::Range => "range",
            Self::Length => "length",
            Self::Choice => "choice",
            Self::Value => "value",
            Self::Depth => "depth",
            Self::Other => "other",
        }
    }
}

impl Problem {
    /// Makes a problem of the whole input. Set `pointer` if the problem is in another place. `found` is shortened to 60
    /// characters.
    pub fn new(rule: Rule, found: &str, expected: impl Into<String>) -> Self {
        Self {
            pointer: String::new(),
            rule,
            found: words::shorten(found),
            expected: expected.into(),
            near: None,
        }
    }

    /// Makes the problem of a key that is not one of `keys`, with the most similar name.
    #[doc(hidden)]
    pub fn unknown_key<'k>(
        key: &str,
        keys: impl ExactSizeIterator<Item = &'k str> + Clone,
    ) -> Self {
        Self::unknown_key_within(key, keys, &Cell::new(words::MOST_COMPARED))
    }

    /// Does the same as [`unknown_key`](Self::unknown_key), but limits the work: `left` is the number of pairs of
    /// letters that may still be compared, and no similar name is found once it is 0.
    #[doc(hidden)]
    pub fn unknown_key_within<'k>(
        key: &str,
        keys: impl ExactSizeIterator<Item = &'k str> + Clone,
        left: &Cell<usize>,
    ) -> Self {
        let expected = match keys.len() {
            0 => "no keys".to_owned(),
            _ => words::one_of(keys.clone()),
        };
        let mut problem = Self::new(Rule::UnknownKey, &words::quote(key), expected);
        problem.near = words::nearest_within(key, keys, left);
        problem
    }

    /// Makes the problem of a key that the object has twice.
    #[doc(hidden)]
    pub fn duplicate_key(key: &str) -> Self {
        Self::new(Rule::DuplicateKey, &words::quote(key), "each key once")
    }

    /// Prepends the key of the enclosing object to the pointer.
    ///
    /// ```
    /// # use toolwright::__private0::{Problem, Rule};
    /// let mut problem = Problem::new(Rule::Null, "null", "a string");
    /// problem.prefix("a/b");
    /// assert_eq!(problem.pointer, "/a~1b");
    /// ```
    pub fn prefix(&mut self, key: &str) {
        Self::prefix_pointer(&mut self.pointer, key);
    }

    pub(crate) fn prefix_pointer(below: &mut String, key: &str) {
        let mut pointer = String::with_capacity(1 + key.len() + below.len());
        pointer.push('/');
        for letter in key.chars() {
            match letter {
                '~' => pointer.push_str("~0"),
                '/' => pointer.push_str("~1"),
                other => pointer.push(other),
            }
        }
        pointer.push_str(below);
        *below = pointer;
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "input" } else { &self.pointer };
        write!(out, "{place}: ")?;
        let what = match self.rule {
            Rule::UnknownKey => "unknown key",
            Rule::DuplicateKey => "duplicate key",
            Rule::MissingKey => "missing",
            _ if self.found.is_empty() => "",
            _ => {
                write!(out, "found ")?;
                &self.found
            }
        };
        out.write_str(what)?;
        if !self.expected.is_empty() {
            let comma = if what.is_empty() { "" } else { ", " };
            let wanted = if self.rule == Rule::Other { "" } else { "expected " };
            write!(out, "{comma}{wanted}{}", self.expected)?;
        }
        match &self.near {
            Some(near) => write!(out, "; did you mean {}?", words::quote(near)),
            None => Ok(()),
        }
    }
}

/// The problems of a call's input, in the order of the input, missing keys last. There is at least one. `Display`
/// writes one problem on each line.
#[derive(Clone, PartialEq, Eq)]
pub struct Problems(Box<[Problem]>);
crate::debug_as_sentence!(Problems);

impl Problems {
    /// Makes a list of problems; `None` if `problems` is empty.
    #[must_use]
    pub fn new(problems: Vec<Problem>) -> Option<Self> {
        (!problems.is_empty()).then(|| Self(problems.into_boxed_slice()))
    }

    /// Changes each problem with a function.
    #[doc(hidden)]
    pub fn map(self, change: impl FnMut(Problem) -> Problem) -> Self {
        Self(self.0.into_iter().map(change).collect())
    }
}

impl From<Fault> for Problems {
    fn from(fault: Fault) -> Self {
        Self(Box::new([fault.into_problem()]))
    }
}

impl Deref for Problems {
    type Target = [Problem];

    fn deref(&self) -> &[Problem] {
        &self.0
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_vec().into_iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.iter().enumerate() {
            if index > 0 {
                out.write_str("\n")?;
            }
            problem.fmt(out)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
