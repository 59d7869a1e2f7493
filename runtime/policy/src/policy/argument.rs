//! What a rule may ask of an argument, as it is written.

use super::problem::At;
use super::rule::RuleKind;

/// A test of one argument. Values and limits are JSON texts, so that no number is rounded. Where a tool takes a float, both are
/// compared as the nearest float: as the tool gets them. Where its schema does not say which of the two it takes, and they
/// differ, it is unknown whether the test passes.
///
/// | in a file | in code | passes |
/// | --- | --- | --- |
/// | `equals = 3` | [`equals`](Self::equals) | this value; integers are compared exactly |
/// | `one_of = ["a", "b"]` | [`one_of`](Self::one_of) | one of these values |
/// | `contains = ["a", "b"]` | [`contains`](Self::contains) | a list with one of these in it |
/// | `within = ["a", "b"]` | [`within`](Self::within) | a list with nothing but these in it |
/// | `begins = [["test"], ["fmt", "--check"]]` | [`begins`](Self::begins) | in an allow: a list whose first items are those of one of these lists |
/// | `only_flags = ["--release", "-p"]` | [`only_flags`](Self::only_flags) | in an allow: a list without any other flag |
/// | `flags = ["--force", "-f"]` | [`flags`](Self::flags) | in all but an allow: a list with one of these flags in it, however it is spelt |
/// | `program = ["git"]` | [`program`](Self::program) | a command line that runs one of these programs; in an allow: and no other |
/// | `under = ["src"]` | [`under`](Self::under) | a path in one of these folders, or such a folder |
/// | `glob = ["*.md"]` | [`glob`](Self::glob) | a path that one of these patterns fits |
/// | `at_least`, `more_than`, `at_most`, `less_than` | the same | a number on this side of the limit |
///
/// For a command line (`#[arg(command)]`), `program` may be beside `begins`, `flags`, `only_flags` and `contains`, which then
/// look at the arguments of each program in it. An objection matches if one command passes all of them, an allow only if
/// every command does.
#[derive(Debug, Clone)]
pub struct ArgumentTest(pub(super) Test);

#[derive(Debug, Clone)]
pub(super) enum Test {
    OneOf(Vec<At<String>>),
    Contains(Vec<At<String>>),
    Within(Vec<At<String>>),
    Begins(Vec<At<String>>),
    Flags(Vec<At<String>>),
    OnlyFlags(Vec<At<String>>),
    Program(Vec<At<String>>),
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

    /// It is a list whose first items are those of one of these lists, each a JSON text. For an allow alone: to object, it
    /// would miss the same words elsewhere, as in `git -C . push`.
    pub fn begins(lists: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Begins(all(lists)))
    }

    /// It is a list of a program's arguments, and has one of these flags: also with its value (`--force=yes`), shortened
    /// (`--forc`), with one dash, or as a letter among others (`-uf`). `+` is for whatever begins with it. Not for an
    /// allow, where it would let every other flag through.
    pub fn flags(flags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Flags(all(flags)))
    }

    /// It is a list of a program's arguments, and whatever in it begins with `-` or `+` is one of these flags, as it is
    /// written; one with two dashes may have a value after `=`. What follows `--` is not exempt. For an allow alone: to
    /// object, it would be missed with one flag more.
    pub fn only_flags(flags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::OnlyFlags(all(flags)))
    }

    /// It is a command line, and runs one of these programs; in an allow, and no other. An objection compares names without
    /// their folders, an allow compares them as they are written. What cannot be known of a line before it runs counts as
    /// unknown, and no allow covers a line in which the shell writes a file or sets a variable.
    pub fn program(programs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Program(all(programs)))
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
    /// Why a rule of this kind cannot have it: it would say less than it seems to.
    pub(super) fn why_misplaced(&self, kind: RuleKind) -> Option<&'static str> {
        match (self, kind) {
            (Self::Flags(_), RuleKind::Allow) => Some(
                "`flags` would allow every other flag as well: say `only_flags`, with all that may be there",
            ),
            (Self::Begins(_), RuleKind::Deny | RuleKind::AlwaysAsk | RuleKind::Ask) => Some(
                "`begins` would miss the same words in another place, as in `git -C . push`: say `contains`",
            ),
            (Self::OnlyFlags(_), RuleKind::Deny | RuleKind::AlwaysAsk | RuleKind::Ask) => {
                Some("`only_flags` would be missed with one flag more: say `flags`")
            }
            _ => None,
        }
    }

    /// Why it cannot be asked of a command line: it would miss what the line runs.
    pub(super) fn misses_commands(&self) -> Option<&'static str> {
        match self {
            Self::Under(_) | Self::Glob(_) | Self::Within(_) | Self::Limit(..) => Some(
                "no pattern over a command line can tell what it runs: name programs, as `program = [\"git\"]`, and test their arguments",
            ),
            _ => None,
        }
    }

    /// Whether it says something without a value: that there is no flag at all.
    pub(super) fn may_be_empty(&self) -> bool {
        matches!(self, Self::OnlyFlags(_))
    }

    /// Where it is written.
    pub(super) fn values(&self) -> &[At<String>] {
        match self {
            Self::OneOf(values)
            | Self::Contains(values)
            | Self::Within(values)
            | Self::Begins(values)
            | Self::Flags(values)
            | Self::OnlyFlags(values)
            | Self::Program(values)
            | Self::Under(values)
            | Self::Glob(values) => values,
            Self::Limit(_, value) => std::slice::from_ref(value),
        }
    }
}
