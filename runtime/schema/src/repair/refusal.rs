//! Describes why an input was refused, so that the model can correct it.
//!
//! - The message is short. It has at most [`LONGEST`] characters, with the most useful problems first.
//! - Programs can also read each problem separately.

use std::fmt;

use toolwright_core::input::words::shorten_to;
use toolwright_core::input::{Problem, Problems, Rule};
use toolwright_core::json::MAX_DEPTH;
use toolwright_core::json::parse::Break;

/// The maximum length of a refusal in characters. The whole answer then has at most 2,000.
const LONGEST: usize = 1_850;
/// The maximum length of one problem, and of the example, in characters.
const LONGEST_LINE: usize = 400;

/// Why an input was refused.
///
/// ```
/// use serde_json::json;
/// use toolwright::Repair;
/// use toolwright::unstable::repair::{TruncatedInput, Repairer};
///
/// let schema = json!({
///     "type": "object",
///     "properties": {"unit": {"enum": ["celsius", "kelvin"]}, "days": {"type": "integer"}},
///     "required": ["unit"],
///     "additionalProperties": false,
/// });
/// let repairer = Repairer::new(&schema, [])?;
/// let refusal = repairer
///     .repair(r#"{"unit": "celsus", "days": "many"}"#, Repair::Standard, TruncatedInput::Refused)
///     .expect_err("there is no such unit");
/// assert_eq!(
///     refusal.to_string(),
///     "/days: found \"many\", expected an integer\n\
///      /unit: found \"celsus\", expected one of \"celsius\", \"kelvin\"; did you mean \"celsius\"?"
/// );
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The problems of the input, the most useful problem first.
    pub problems: Problems,
    /// The number of problems that were found but are not in `problems`.
    pub unlisted: usize,
    /// Whether the text ends inside of a value, so that it was probably cut off.
    pub cut_off: bool,
    /// The input as the model probably meant it, as JSON text.
    pub example: Option<String>,
    /// The input after the repairs that were possible. The tool's type reads it again, because the type may find
    /// further problems.
    #[doc(hidden)]
    pub attempt: Option<String>,
}
toolwright_core::debug_as_sentence!(Refusal);

impl Refusal {
    pub(super) fn new(mut problems: Vec<Problem>, unlisted: usize) -> Self {
        problems.sort_by_key(|problem| urgency(problem.rule));
        let problems = Problems::new(problems).unwrap_or_else(|| {
            one(Problem::new(Rule::Other, "", "this is not what the schema asks for"))
        });
        Self { problems, unlisted, cut_off: false, example: None, attempt: None }
    }

    pub(super) fn of(problem: Problem) -> Self {
        Self { problems: one(problem), unlisted: 0, cut_off: false, example: None, attempt: None }
    }

    /// Adds the problems that the tool's type finds at places without a known problem.
    #[doc(hidden)]
    pub fn add(&mut self, theirs: Problems) {
        let holds = |one: &str, other: &str| {
            other.strip_prefix(one).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_new = |it: &Problem| {
            let places = self.problems.iter().map(|ours| ours.pointer.as_str());
            places.into_iter().all(|ours| !holds(ours, &it.pointer) && !holds(&it.pointer, ours))
        };
        let new: Vec<Problem> = theirs.into_iter().filter(is_new).collect();
        if !new.is_empty() {
            let mut all: Vec<Problem> = self.problems.iter().cloned().chain(new).collect();
            all.sort_by_key(|problem| urgency(problem.rule));
            self.problems = Problems::new(all).unwrap_or_else(|| self.problems.clone());
        }
    }

    /// Adds to the message that the text is too long to be repaired.
    pub(super) fn and_too_long(self, found: usize, most: usize) -> Self {
        let expected = format!(
            "at most {most} bytes for a repair; a longer input is taken only where the schema accepts it as it is"
        );
        let problem = Problem::new(Rule::Length, &format!("{found} bytes"), expected);
        let problems = self.problems.iter().cloned().chain([problem]).collect();
        Self {
            unlisted: self.unlisted,
            cut_off: self.cut_off,
            attempt: self.attempt,
            ..Self::new(problems, 0)
        }
    }

    /// Sets the example, unless it is too long to be shown.
    pub(super) fn with_example(mut self, example: Option<String>) -> Self {
        self.example = example.filter(|it| it.chars().count() <= LONGEST_LINE);
        self
    }
}

fn one(problem: Problem) -> Problems {
    Problems::new(vec![problem]).expect("there is at least one problem")
}

/// Returns a number by which problems are sorted: a missing key comes first, because without it no call is possible.
fn urgency(rule: Rule) -> u8 {
    match rule {
        Rule::MissingKey => 0,
        Rule::Type | Rule::Null | Rule::Syntax | Rule::Depth => 1,
        _ => 2,
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tail = String::new();
        if self.cut_off {
            tail.push_str(
                "\nthe text ends in the middle, as if it was cut off: \
                 send less in one call, long content in several parts",
            );
        }
        if let Some(example) = &self.example {
            tail.push_str("\nif this is meant, send it: ");
            tail.push_str(example);
        }
        // The number of characters that remain for problems, without the words "and N more".
        let mut room = LONGEST.saturating_sub(tail.chars().count() + 40);
        let mut listed = 0;
        for problem in self.problems.iter() {
            let line = shorten_to(&problem.to_string(), LONGEST_LINE);
            let length = line.chars().count() + 1;
            if length > room {
                break;
            }
            room -= length;
            if listed > 0 {
                out.write_str("\n")?;
            }
            out.write_str(&line)?;
            listed += 1;
        }
        match self.problems.len() - listed + self.unlisted {
            0 => {}
            more => write!(out, "\nand {more} more")?,
        }
        out.write_str(&tail)
    }
}

impl std::error::Error for Refusal {}

fn too_deep() -> Problem {
    Problem::new(Rule::Depth, "", format!("at most {MAX_DEPTH} levels of arrays and objects"))
}

/// Makes the refusal of a text that cannot be parsed, with what was expected instead.
pub(super) fn unreadable(text: &str, broken: Break) -> Refusal {
    match broken {
        Break::Depth => Refusal::of(too_deep()),
        Break::End(what) => {
            let problem = Problem::new(Rule::Syntax, "the end of the text", what);
            Refusal { cut_off: text.contains(['{', '[']), ..Refusal::of(problem) }
        }
        Break::Wanted(at, what) => {
            let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
            let (before, rest) = text.split_at(at.unwrap_or(0));
            let place = if before.is_empty() {
                String::new()
            } else {
                format!(" at character {}", before.chars().count() + 1)
            };
            let what = if before.is_empty() { "a JSON object" } else { what };
            // The string seems to end before the last word of the text. So there is probably a quotation mark without a
            // backslash inside of the string.
            let advice =
                if before.trim_end().ends_with('"') && rest.starts_with(char::is_alphanumeric) {
                    "; write \\\" for a quotation mark inside a text"
                } else {
                    ""
                };
            Refusal::of(Problem::new(Rule::Syntax, rest, format!("{what}{place}{advice}")))
        }
    }
}
