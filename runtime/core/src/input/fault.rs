//! The reader's error: one boxed problem. The location of the problem is completed while the reader returns through the
//! enclosing values.
//!
//! - A fault is one pointer wide and allocated only on failure, so that success costs nothing.
//! - The path of a fault is relative to the value in which it occurred; each enclosing value prepends its own segment.
//! - Serde often does not report the value that it refused. Then `found` stays empty until the reader fills it in.
//! - A fault also contains the names that the type expected. They show a registry which names a type accepts besides
//!   those in its schema, such as aliases.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use super::{
    formats,
    problem::{Problem, Rule},
    words,
};

/// Why a value could not be read.
///
/// ```
/// # use toolwright::__private0::{Fault, Problem, Rule};
/// let fault = Fault::from(Problem::new(Rule::Type, "1", "a string"));
/// let fault = fault.at_index(2).at_key("lines");
/// assert_eq!(fault.to_string(), "/lines/2: found 1, expected a string");
/// ```
pub struct Fault(Box<FaultParts>);

struct FaultParts {
    problem: Problem,
    asked: Option<ExpectedInput>,
}

/// What a type expected when the input contained something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum ExpectedInput {
    /// An object with these keys, which include aliases.
    Fields(&'static [&'static str]),
    /// One of these choices, which include aliases.
    Variants(&'static [&'static str]),
    /// A key that is an integer of this range, limits included.
    IntegerKey(i128, u128),
    /// A key of one character.
    CharKey,
}

impl Fault {
    #[cold]
    pub(super) fn new(rule: Rule, found: &str, expected: impl Into<String>) -> Self {
        Self::from(Problem::new(rule, found, expected))
    }

    /// Makes the fault of a key that is not one of `keys`.
    #[cold]
    pub(super) fn unknown_key<'k>(
        key: &str,
        keys: impl ExactSizeIterator<Item = &'k str> + Clone,
    ) -> Self {
        let fault = Self::from(Problem::unknown_key(key, keys));
        fault.at_key(&words::shorten(key))
    }

    /// Makes the fault of a key that the object has twice.
    #[cold]
    pub(super) fn duplicate_key(key: &str) -> Self {
        Self::from(Problem::duplicate_key(key)).at_key(key)
    }

    /// Returns the problem that the fault reports.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// Returns the problem that the fault reports, and consumes the fault.
    #[must_use]
    pub fn into_problem(self) -> Problem {
        self.0.problem
    }

    /// Prepends the segment of an object's key to the location.
    #[cold]
    #[must_use]
    pub fn at_key(mut self, key: &str) -> Self {
        self.0.problem.prefix(key);
        self
    }

    /// Prepends the segment of an array's index to the location.
    #[cold]
    #[must_use]
    pub fn at_index(mut self, index: usize) -> Self {
        self.0.problem.prefix(&index.to_string());
        self
    }

    /// Adds what the type expected.
    #[cold]
    pub(super) fn asking(mut self, asked: ExpectedInput) -> Self {
        self.0.asked = Some(asked);
        self
    }

    /// Returns what the type expected; `None` if the fault does not contain it.
    #[doc(hidden)]
    pub fn asked(&self) -> Option<ExpectedInput> {
        self.0.asked
    }

    /// Returns whether the fault is about the whole value that was read, and does not quote that value yet.
    pub(super) fn lacks_found(&self) -> bool {
        self.0.problem.found.is_empty() && self.0.problem.pointer.is_empty()
    }

    pub(super) fn set_found(&mut self, found: &str) {
        self.0.problem.found = words::shorten(found);
    }

    /// Converts the fault of a `null` at an optional key: the new fault advises to leave the key out.
    pub(super) fn into_null(mut self) -> Self {
        let is_said = matches!(self.0.problem.rule, Rule::Syntax | Rule::Null);
        if self.0.problem.pointer.is_empty() && !is_said {
            self.0.problem.rule = Rule::Null;
            self.0.problem.found = "null".to_owned();
            self.0.problem.expected.push_str("; leave the key out instead");
            self.0.problem.near = None;
        }
        self
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self(Box::new(FaultParts { problem, asked: None }))
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.problem.fmt(out)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.problem.fmt(out)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        let said = message.to_string();
        match formats::of_error::<T>(&said) {
            Some(expected) => Self::new(Rule::Value, "", expected),
            None => Self::new(Rule::Other, "", words::message(said)),
        }
    }

    #[cold]
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(
            Rule::Type,
            &words::describe_found(&unexpected),
            words::describe_expected(expected),
        )
    }

    #[cold]
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = words::describe_found(&unexpected);
        match unexpected {
            Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => {
                Self::new(Rule::Range, &found, words::expected_range(expected))
            }
            _ => Self::new(Rule::Value, &found, words::describe_expected(expected)),
        }
    }

    #[cold]
    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::new(Rule::Length, "", words::describe_expected(expected))
    }

    #[cold]
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let choices = words::one_of(expected.iter().copied());
        let mut fault = Self::new(Rule::Choice, &words::quote(variant), choices);
        fault.0.problem.near = words::nearest(variant, expected.iter().copied());
        fault.asking(ExpectedInput::Variants(expected))
    }

    #[cold]
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown_key(field, expected.iter().copied())
    }

    #[cold]
    fn missing_field(field: &'static str) -> Self {
        Self::new(Rule::MissingKey, "", "").at_key(field)
    }

    #[cold]
    fn duplicate_field(field: &'static str) -> Self {
        Self::duplicate_key(field)
    }
}
