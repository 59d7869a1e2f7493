//! Compiled tests of arguments: canonical values, compiled patterns, parsed limits.

use std::cmp::Ordering;

use super::argument::{Side, Test};
use super::command_flags;
use super::decimal::Decimal;
use super::holds::Holds;
use super::paths::{Base, Folder, PathPattern};
use super::problem::{At, Problems};
use super::question::Asking;
use super::rounding::{Limit, Place, Values};
use super::rule::RuleKind;
use toolwright_core::json::pointer::{index, segments};
use toolwright_core::json::tree::Node;
use toolwright_core::json::{canonical, canonical_of, read};

/// One test of one argument.
#[derive(Debug)]
pub(super) struct ValueTest {
    segments: Vec<String>,
    check: Check,
}

#[derive(Debug)]
pub(super) enum Check {
    OneOf(Values),
    Contains(Values),
    Within(Values),
    Begins(Vec<Vec<String>>),
    Flags(Vec<String>),
    OnlyFlags(Vec<String>),
    Under(Vec<Folder>),
    Glob(Vec<PathPattern>),
    Limit(Side, Limit),
}

impl ValueTest {
    /// Compiles a test of an argument. Adds the mistakes in the test to `problems`.
    pub(super) fn compile(
        pointer: &At<String>,
        test: &Test,
        base: &Base,
        kind: RuleKind,
        rule: &str,
        problems: &mut Problems,
    ) -> Option<Self> {
        let is_folded = kind != RuleKind::Allow;
        let found = segments(&pointer.value);
        if found.is_none() {
            problems.add(
                pointer.place.as_ref(),
                format!(
                    "rule `{rule}`: `{}` is no JSON pointer: it is empty for all of the arguments, or begins with `/`, as `/path` does",
                    pointer.value
                ),
            );
        }
        if let Some(why) = test.why_misplaced(kind) {
            problems.add(pointer.place.as_ref(), format!("rule `{rule}`: {why}"));
            return None;
        }
        if test.values().is_empty() && !test.may_be_empty() {
            let message = format!(
                "rule `{rule}`: the test of `{}` names no value, so that nothing passes it",
                pointer.value
            );
            problems.add(pointer.place.as_ref(), message);
            return None;
        }
        let mut each = |value: &At<String>, error: String| {
            let place = value.place.as_ref().or(pointer.place.as_ref());
            problems.add(place, format!("rule `{rule}`: {error}"));
        };
        let mut texts = |values: &[At<String>]| {
            let mut nodes = Vec::with_capacity(values.len());
            for value in values {
                match read(&value.value) {
                    Ok(node) => nodes.push(node),
                    Err(error) => {
                        each(value, format!("a value for `{}` is no JSON: {error}", pointer.value))
                    }
                }
            }
            let made = Values::of(nodes.iter());
            (nodes.len() == values.len()).then_some(made)
        };
        let check = match test {
            // A test of a program applies only to command lines, so it makes no check of a value.
            Test::Program(_) => None,
            Test::OneOf(values) => {
                let texts = texts(values);
                let null =
                    |value: &&At<String>| canonical(&value.value).is_ok_and(|it| it == "null");
                for value in values.iter().filter(null) {
                    each(
                        value,
                        format!(
                            "`{}` is tested for null, and an argument that is null passes no test: leave it out",
                            pointer.value
                        ),
                    );
                }
                texts.map(Check::OneOf)
            }
            Test::Contains(values) => texts(values).map(Check::Contains),
            Test::Within(values) => texts(values).map(Check::Within),
            Test::Begins(values) => ready(values, items, &mut each).map(Check::Begins),
            Test::Flags(values) => ready(values, flag, &mut each).map(Check::Flags),
            Test::OnlyFlags(values) => ready(values, flag, &mut each).map(Check::OnlyFlags),
            Test::Under(values) => {
                ready(values, |it| base.folder(it, is_folded), &mut each).map(Check::Under)
            }
            Test::Glob(values) => {
                ready(values, |it| base.pattern(it, is_folded), &mut each).map(Check::Glob)
            }
            Test::Limit(side, value) => match read(&value.value) {
                Ok(Node::Number(number)) if Decimal::of(&number).is_comparable() => {
                    Some(Check::Limit(*side, Limit::of(&number)))
                }
                _ => {
                    each(
                        value,
                        format!("the limit `{}` for `{}` is no number", value.value, pointer.value),
                    );
                    None
                }
            },
        };
        Some(Self { segments: found?, check: check? })
    }

    /// Whether the arguments pass the test. If `all` is set, every item of a list of paths or numbers must pass;
    /// otherwise one passing item is enough.
    pub(super) fn passes(&self, arguments: &Node, asking: &Asking<'_>, all: bool) -> Holds {
        let place = Place { schema: asking.question.input_schema, segments: &self.segments };
        match find_value(&self.segments, arguments) {
            None | Some(Node::Null) => Holds::No,
            // A pattern cannot decide a command line: `git *` matches `git log; rm -rf /`. For tools that are known when
            // the policy is built, the build refuses such a test, or compiles it into a test of the parsed line. This tool
            // was registered later.
            Some(_) if self.check.is_pattern() && asking.is_line(&self.segments) => Holds::Unknown,
            Some(value) => self.check.passes(value, asking.base, place, all),
        }
    }

    /// Returns the check without the place of the argument.
    pub(super) fn into_check(self) -> Check {
        self.check
    }
}

/// Finds the value at a place of the arguments.
pub(super) fn find_value<'n>(segments: &[String], arguments: &'n Node) -> Option<&'n Node> {
    segments.iter().try_fold(arguments, |node, segment| match node {
        Node::Object(entries) => {
            entries.iter().find(|(key, _)| key == segment).map(|(_, value)| value)
        }
        Node::Array(items) => items.get(index(segment)?),
        _ => None,
    })
}

impl Check {
    /// Whether the check looks at a part of the text only, so that it cannot determine what a command line runs.
    fn is_pattern(&self) -> bool {
        !matches!(self, Self::OneOf(_))
    }

    pub(super) fn passes(&self, value: &Node, base: &Base, place: Place<'_>, all: bool) -> Holds {
        match (self, value) {
            (Self::OneOf(values), value) => values.contains(value, place),
            (Self::Contains(values), Node::Array(items)) => {
                Holds::any(items.iter().map(|item| values.contains(item, place)))
            }
            // An empty list passes, because no item can fail.
            (Self::Within(_), Node::Array(items)) if items.is_empty() => Holds::Yes,
            (Self::Within(values), Node::Array(items)) => {
                Holds::all(items.iter().map(|item| values.contains(item, place)))
            }
            (Self::Begins(lists), Node::Array(items)) => {
                let begins = |list: &Vec<String>| {
                    let mut each = items.iter().map(canonical_of);
                    list.iter().all(|wanted| each.next().as_ref() == Some(wanted))
                };
                lists.iter().any(begins).into()
            }
            (Self::Flags(flags), Node::Array(items)) => command_flags::any(items, flags),
            (Self::OnlyFlags(flags), Node::Array(items)) => command_flags::none_but(items, flags),
            (
                Self::Contains(_)
                | Self::Within(_)
                | Self::Begins(_)
                | Self::Flags(_)
                | Self::OnlyFlags(_),
                _,
            ) => Holds::Unknown,
            (_, Node::Array(items)) => {
                let each = items.iter().map(|item| self.passes(item, base, place, all));
                if all { Holds::all(each) } else { Holds::any(each) }
            }
            (Self::Under(folders), Node::Text(path)) => {
                let name = base.name(path);
                Holds::any(folders.iter().map(|folder| folder.holds(&name)))
            }
            (Self::Glob(patterns), Node::Text(path)) => {
                let name = base.name(path);
                Holds::any(patterns.iter().map(|pattern| pattern.fits(&name, false)))
            }
            (Self::Limit(side, limit), Node::Number(number)) => {
                limit.holds(number, place, |order| match side {
                    Side::AtLeast => order != Ordering::Less,
                    Side::MoreThan => order == Ordering::Greater,
                    Side::AtMost => order != Ordering::Greater,
                    Side::LessThan => order == Ordering::Less,
                })
            }
            // The value has another type than the test expects.
            (Self::Under(_) | Self::Glob(_) | Self::Limit(..), _) => Holds::Unknown,
        }
    }
}

/// Returns the items of a list, given as JSON text, each in its canonical form.
fn items(list: &str) -> Result<Vec<String>, String> {
    match read(list) {
        Ok(Node::Array(items)) if !items.is_empty() => Ok(items.iter().map(canonical_of).collect()),
        Ok(Node::Array(_)) => Err("an empty list begins every list: name its items".to_owned()),
        Ok(_) => Err(format!(
            "`{list}` is no list: expected one such as `[[\"test\"]]`, a list of lists"
        )),
        Err(error) => Err(format!("a value for a list is no JSON: {error}")),
    }
}

fn flag(flag: &str) -> Result<String, String> {
    command_flags::refusal(flag).map_or_else(|| Ok(flag.to_owned()), Err)
}

/// Compiles every value; `None` if one of them is wrong.
fn ready<T>(
    values: &[At<String>],
    make: impl Fn(&str) -> Result<T, String>,
    wrong: &mut impl FnMut(&At<String>, String),
) -> Option<Vec<T>> {
    let mut made = Vec::with_capacity(values.len());
    for value in values {
        match make(&value.value) {
            Ok(it) => made.push(it),
            Err(error) => wrong(value, error),
        }
    }
    (made.len() == values.len()).then_some(made)
}
