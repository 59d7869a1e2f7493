//! The tests that a rule can make of an argument, as the policy spells them.

use super::problem::At;
use super::rule::RuleKind;

/// A test of one argument. Values and limits are JSON texts, so that a policy can contain numbers with any digits. If a
/// tool takes a float, the argument and the value are both rounded to the nearest float before they are compared,
/// because the tool gets the rounded number. It is unknown whether the test passes if the schema does not say whether
/// the tool takes floats or integers, and the results for floats and integers differ.
///
/// | in a file | in code | passes |
/// | --- | --- | --- |
/// | `equals = 3` | [`equals`](Self::equals) | this value; integers are compared exactly |
/// | `one_of = ["a", "b"]` | [`one_of`](Self::one_of) | one of these values |
/// | `contains = ["a", "b"]` | [`contains`](Self::contains) | a list with one of these in it |
/// | `within = ["a", "b"]` | [`within`](Self::within) | a list that contains only these |
/// | `begins = [["test"], ["fmt", "--check"]]` | [`begins`](Self::begins) | in an allow: a list whose first items are those of one of these lists |
/// | `only_flags = ["--release", "-p"]` | [`only_flags`](Self::only_flags) | in an allow: a list without any other flag |
/// | `flags = ["--force", "-f"]` | [`flags`](Self::flags) | in any rule but an allow: a list that contains one of these flags, in any spelling |
/// | `program = ["git"]` | [`program`](Self::program) | a command line that runs one of these programs; in an allow, only these |
/// | `under = ["src"]` | [`under`](Self::under) | a path in one of these folders, or one of the folders |
/// | `glob = ["*.md"]` | [`glob`](Self::glob) | a path that matches one of these patterns |
/// | `at_least`, `more_than`, `at_most`, `less_than` | the same | a number on this side of the limit |
///
/// For a command line (`#[arg(command)]`), `program` may be combined with `begins`, `flags`, `only_flags` and
/// `contains`, which then test the arguments of each program in it. A rule that denies or asks matches if one command
/// passes all of these tests. A rule that allows matches only if every command passes them.
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

/// Whether a number has to be above or below a limit, and whether the limit itself passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

impl ArgumentTest {
    /// Passes if the argument equals this value, a JSON text.
    pub fn equals(value: impl Into<String>) -> Self {
        Self(Test::OneOf(vec![At::code(value.into())]))
    }

    /// Passes if the argument equals one of these values, each a JSON text.
    pub fn one_of(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::OneOf(all(values)))
    }

    /// Passes if the argument is a list that contains at least one of these values, each a JSON text.
    pub fn contains(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Contains(all(values)))
    }

    /// Passes if the argument is a list and each of its items is one of these values, each a JSON text.
    pub fn within(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Within(all(values)))
    }

    /// Passes for a list that begins with the items of one of these lists, each a JSON text. Only a rule that allows
    /// may use this test. A rule that denies or asks would miss the same words in another place, as in `git -C . push`.
    pub fn begins(lists: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Begins(all(lists)))
    }

    /// Passes for a list of a program's arguments that contains one of these flags. The test finds a flag also with a
    /// value (`--force=yes`), shortened (`--forc`), with one dash, or as a letter among others (`-uf`). `+` matches
    /// every argument that begins with `+`. A rule that allows must not use this test, because the rule would let every
    /// other flag through.
    pub fn flags(flags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Flags(all(flags)))
    }

    /// Passes for a list of a program's arguments in which everything that begins with `-` or `+` is one of these
    /// flags, in exactly this spelling; `-` and `--` alone are no flags. A flag with two dashes may have a value after
    /// `=`. Arguments after `--` are tested too. Only a rule that allows may use this test, because one more flag would
    /// evade a rule that denies or asks.
    pub fn only_flags(flags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::OnlyFlags(all(flags)))
    }

    /// Passes for a command line that runs one of these programs. In an allow rule, the line must run no other program.
    /// A deny or ask rule compares names without their folders and without regard to case. An allow rule compares them
    /// as they are written. If a part of the line cannot be known before the line runs and the other parts do not
    /// decide the result, it is unknown whether the test passes. An allow rule covers no line in which the shell writes
    /// a file or sets a variable.
    pub fn program(programs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Program(all(programs)))
    }

    /// Passes for a path in one of these folders: `src` covers `src` and `src/a`, but not `srcx`.
    pub fn under(folders: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Under(all(folders)))
    }

    /// Passes if the argument is a path that matches one of these patterns.
    pub fn glob(patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(Test::Glob(all(patterns)))
    }

    /// Passes if the argument is at least this number, a JSON text.
    pub fn at_least(limit: impl Into<String>) -> Self {
        Self(Test::Limit(Side::AtLeast, At::code(limit.into())))
    }

    /// Passes if the argument is greater than this number, a JSON text.
    pub fn more_than(limit: impl Into<String>) -> Self {
        Self(Test::Limit(Side::MoreThan, At::code(limit.into())))
    }

    /// Passes if the argument is at most this number, a JSON text.
    pub fn at_most(limit: impl Into<String>) -> Self {
        Self(Test::Limit(Side::AtMost, At::code(limit.into())))
    }

    /// Passes if the argument is less than this number, a JSON text.
    pub fn less_than(limit: impl Into<String>) -> Self {
        Self(Test::Limit(Side::LessThan, At::code(limit.into())))
    }
}

fn all(values: impl IntoIterator<Item = impl Into<String>>) -> Vec<At<String>> {
    values.into_iter().map(|it| At::code(it.into())).collect()
}

impl Test {
    /// Returns why a rule of this kind must not have this test; `None` if it may.
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

    /// Returns why the test must not be applied to a command line: it would miss programs that the line runs. `None` if
    /// it may be applied.
    pub(super) fn misses_commands(&self) -> Option<&'static str> {
        match self {
            Self::Under(_) | Self::Glob(_) | Self::Within(_) | Self::Limit(..) => Some(
                "no pattern over a command line can tell what it runs: name programs, as `program = [\"git\"]`, and test their arguments",
            ),
            _ => None,
        }
    }

    /// Whether the test has a meaning without values. It then requires that the command has no flag.
    pub(super) fn may_be_empty(&self) -> bool {
        matches!(self, Self::OnlyFlags(_))
    }

    /// Returns the values of the test, with their locations in the file.
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
