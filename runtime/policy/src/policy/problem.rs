//! The problems of a policy, which are reported together, each with its location.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use toolwright_core::near::near;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceLocation {
    /// The policy file; `None` if it is unknown.
    pub file: Option<Arc<str>>,
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
}

/// One problem of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyProblem {
    /// The place of the problem in a file; `None` if the problem is not in a file.
    pub place: Option<SourceLocation>,
    /// What is wrong, and how to correct it.
    pub message: String,
}

/// The problems that prevent a policy from being made; there is at least one.
#[derive(Clone, PartialEq, Eq)]
pub struct PolicyError {
    problems: Vec<PolicyProblem>,
}
toolwright_core::debug_as_sentence!(PolicyError);

/// A value with the location at which the policy writes it.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) place: Option<SourceLocation>,
}

/// Collects problems.
#[derive(Debug, Default, Clone)]
pub(super) struct Problems(Vec<PolicyProblem>);

impl SourceLocation {
    /// Computes the location of a span of a text.
    pub(super) fn of(file: Option<&Arc<str>>, text: &str, span: &Range<usize>) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Self { file: file.cloned(), line, column: before[start..].chars().count() + 1 }
    }
}

impl PolicyError {
    /// Makes an error from messages without locations; `None` if there are no messages.
    #[doc(hidden)]
    pub fn of(messages: impl IntoIterator<Item = String>) -> Option<Self> {
        let messages = messages.into_iter();
        let problems: Vec<PolicyProblem> =
            messages.map(|message| PolicyProblem { place: None, message }).collect();
        (!problems.is_empty()).then_some(Self { problems })
    }

    /// Lists the problems, in the order of their places.
    #[must_use]
    pub fn problems(&self) -> &[PolicyProblem] {
        &self.problems
    }
}

impl<T> At<T> {
    pub(super) fn code(value: T) -> Self {
        Self { value, place: None }
    }
}

impl Problems {
    pub(super) fn add(&mut self, place: Option<&SourceLocation>, message: impl Into<String>) {
        self.0.push(PolicyProblem { place: place.cloned(), message: message.into() });
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Returns the number of problems.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn finish(mut self) -> Result<(), PolicyError> {
        if self.0.is_empty() {
            return Ok(());
        }
        self.0.sort_by_key(|it| it.place.as_ref().map(|it| (it.file.clone(), it.line, it.column)));
        self.0.dedup();
        Err(PolicyError { problems: self.0 })
    }
}

/// Returns the end of a message: the name that was probably meant, or the names that exist.
pub(super) fn suggestion<'a>(
    written: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let mut close = near(written, known.clone());
    close.dedup();
    if !close.is_empty() {
        return format!("; did you mean `{}`?", close.join("`, `"));
    }
    let mut all: Vec<&str> = known.collect();
    all.sort_unstable();
    all.dedup();
    match all.len() {
        0 => "; there are none".to_owned(),
        1..=20 => format!("; expected one of `{}`", all.join("`, `")),
        more => format!("; none of the {more} known ones is similar"),
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(formatter, "{file}:{}:{}", self.line, self.column),
            None => write!(formatter, "line {}, column {}", self.line, self.column),
        }
    }
}

impl fmt::Display for PolicyProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(formatter, "{place}: {}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [only] => write!(formatter, "the policy cannot be used: {only}"),
            several => {
                write!(formatter, "the policy cannot be used, for {} reasons", several.len())?;
                several.iter().try_for_each(|problem| write!(formatter, "\n- {problem}"))
            }
        }
    }
}

impl std::error::Error for PolicyError {}
