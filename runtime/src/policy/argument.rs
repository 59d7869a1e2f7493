//! What a rule may ask of an argument, as it is written.

use super::problem::At;

/// A test of one argument. Values and limits are JSON texts, so that no number is rounded.
///
/// | in a file | in code | passes |
/// | --- | --- | --- |
/// | `equals = 3` | [`equals`](Self::equals) | this value; numbers are compared exactly |
/// | `one_of = ["a", "b"]` | [`one_of`](Self::one_of) | one of these values |
/// | `contains = ["a", "b"]` | [`contains`](Self::contains) | a list with one of these in it |
/// | `within = ["a", "b"]` | [`within`](Self::within) | a list with nothing but these in it |
/// | `under = ["src"]` | [`under`](Self::under) | a path in one of these folders, or such a folder |
/// | `glob = ["*.md"]` | [`glob`](Self::glob) | a path that one of these patterns fits |
/// | `at_least`, `more_than`, `at_most`, `less_than` | the same | a number on this side of the limit |
#[derive(Debug, Clone)]
pub struct ArgumentTest(pub(super) Test);

#[derive(Debug, Clone)]
pub(super) enum Test {
    OneOf(Vec<At<String>>),
    Contains(Vec<At<String>>),
    Within(Vec<At<String>>),
    Under(Vec<At<String>>),
    Glob(Vec<At<String>>),
    Limit(Side, At<String>),
}

/// On which side of a limit a number has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

impl ArgumentTest {
    /// It is this value, a JSON text.
    pub fn equals(value: impl Into<String>) -> Self {
        Self(Test::OneOf(vec![At::code(value.into())]))
    }

    /// It is one of these values, each a JSON text.
    pub fn one_of(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::OneOf(all(values)))
    }

    /// It is a list that has one of these values, each a JSON text.
    pub fn contains(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Contains(all(values)))
    }

    /// It is a list of nothing but these values, each a JSON text.
    pub fn within(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Within(all(values)))
    }

    /// It is a path in one of these folders: `src` holds `src` and `src/a`, and not `srcx`.
    pub fn under(folders: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Under(all(folders)))
    }

    /// It is a path that one of these patterns fits.
    pub fn glob(patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Glob(all(patterns)))
    }

    /// It is this number, a JSON text, or a larger one.
    pub fn at_least(limit: impl Into<String>) -> Self {
        Self(Test::Limit(Side::AtLeast, At::code(limit.into())))
    }

    /// It is a number larger than this one.
    pub fn more_than(limit: impl Into<String>) -> Self {
        Self(Test::Limit(Side::MoreThan, At::code(limit.into())))
    }

    /// It is this number or a smaller one.
    pub fn at_most(limit: impl Into<String>) -> Self {
        Self(Test::Limit(Side::AtMost, At::code(limit.into())))
    }

    /// It is a number smaller than this one.
    pub fn less_than(limit: impl Into<String>) -> Self {
        Self(Test::Limit(Side::LessThan, At::code(limit.into())))
    }
}

fn all(values: impl IntoIterator<Item = impl Into<String>>) -> Vec<At<String>> {
    values.into_iter().map(|it| At::code(it.into())).collect()
}

impl Test {
    /// Whether it looks for a pattern, which says nothing of a command line.
    pub(super) fn is_pattern(&self) -> bool {
        matches!(self, Self::Under(_) | Self::Glob(_))
    }

    /// Where it is written.
    pub(super) fn values(&self) -> &[At<String>] {
        match self {
            Self::OneOf(values)
            | Self::Contains(values)
            | Self::Within(values)
            | Self::Under(values)
            | Self::Glob(values) => values,
            Self::Limit(_, value) => std::slice::from_ref(value),
        }
    }
}
