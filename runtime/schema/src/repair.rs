//! Repairs the input of a call if its schema allows exactly one reading, and records each change. Otherwise describes
//! the problems of the input.
//!
//! - Input that the schema accepts is returned unchanged, byte for byte.
//! - Repaired input satisfies the schema; the jsonschema crate checks that.
//! - The digits of numbers never change, nor do texts that their schema accepts.
//! - The recorded changes are complete: [`replay`] can apply them again to the original text.
//! - The code does no I/O and uses no clock. Its work is bounded by the sizes of the text and the schema.

mod extract;
mod guide;
mod keys;
mod list;
mod problems;
mod prose;
mod refusal;
mod replay;
mod shape;
mod site;
mod tool_name;
mod words;
mod wrap;

use std::collections::HashSet;
use std::sync::OnceLock;

use toolwright_core::input::{Problem, Rule, words::quote};
use toolwright_core::json::pointer::unescape;
use toolwright_core::tool::Repair;

use serde_json::Value;

pub use refusal::Refusal;
use refusal::unreadable;
pub use replay::replay;
pub use toolwright_core::repairs::{Change, ChangeRule, Repairs};

use extract::{NoInput, TEXT_RULES, extract};
use guide::{Guide, Reach};
use keys::Aliases;
use site::Schema;
use tool_name::ToolName;
use toolwright_core::json::parse::{self, ParsedValue, Uses, parse};
use toolwright_core::json::tree::Node;
use toolwright_core::json::{Duplicates, MAX_DEPTH};
use words::fold;
use wrap::WrappedInput;

/// The maximum length in bytes of a text that is repaired. Input that the schema accepts may be longer.
const LONGEST: usize = 1 << 20;
/// The maximum number of wrapper objects around the input that are removed.
const MOST_WRAPPERS: usize = 3;

/// Whether closing brackets that are missing at the end of a text may be added.
///
/// A text without them may have been cut off, and then more than brackets may be missing. Choose
/// [`Completed`](Self::Completed) only for a safe tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruncatedInput {
    /// Truncated input is refused.
    Refused,
    /// Truncated input is repaired if only its closing brackets are missing.
    Completed,
}

/// Why a repair failed. `Wrong` contains the value and not its problems: only one failure is reported, and the problems
/// are needed only for that one.
enum Failure {
    Refused(Box<Refusal>),
    Wrong { value: Node, ambiguous: Vec<(String, String)> },
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// An input that the schema accepts, either as it was sent or after repairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedInput {
    /// The repaired input as JSON text.
    pub text: String,
    /// The changes in order; empty if the input needed no repair.
    pub changes: Vec<Change>,
}

/// Repairs the inputs of one tool. Smaller changes are tried before larger ones. Make one `Repairer` for each tool and
/// reuse it.
///
/// ```
/// use serde_json::json;
/// use toolwright::Repair;
/// use toolwright::unstable::repair::{TruncatedInput, Repairer};
///
/// let schema = json!({
///     "type": "object",
///     "properties": {
///         "path": {"type": "string"},
///         "limit": {"type": "integer"},
///         "tags": {"type": "array", "items": {"type": "string"}},
///     },
///     "required": ["path"],
///     "additionalProperties": false,
/// });
/// let repairer = Repairer::new(&schema, [("path", &["file"][..])])?;
///
/// let sent = r#"{'file': 'a.rs', 'Limit': '9007199254740993', 'tags': 'x'}"#;
/// let repaired = repairer.repair(sent, Repair::Standard, TruncatedInput::Refused)?;
/// assert_eq!(repaired.text, r#"{"path":"a.rs","limit":9007199254740993,"tags":["x"]}"#);
/// let rules: Vec<_> = repaired.changes.iter().map(|change| change.rule.name()).collect();
/// assert_eq!(rules, ["python", "alias", "key_spelling", "integer", "in_array"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Repairer {
    schema: Schema,
    aliases: Aliases,
    name: ToolName,
    /// The keys of the input and their aliases, in folded spelling. Computed when text around an input is examined for
    /// the first time.
    known: OnceLock<HashSet<String>>,
}

impl Repairer {
    /// Compiles a schema. `aliases` lists the top-level keys, each with its aliases.
    ///
    /// # Errors
    ///
    /// The problems of the schema.
    pub fn new<'a>(
        schema: &Value,
        aliases: impl IntoIterator<Item = (&'a str, &'a [&'a str])>,
    ) -> Result<Self, String> {
        let aliases = Aliases::new(aliases.into_iter());
        let (name, known) = (ToolName::default(), OnceLock::new());
        Ok(Self { schema: Schema::new(schema)?, aliases, name, known })
    }

    /// Sets the name of the tool. A text may be a whole call, `{"name": …, "arguments": …}` or `read_file(…)`. Such a
    /// text is then accepted if it calls this tool, and refused if it calls another tool. Case, separators inside the
    /// name and a prefix, as in `functions.read_file`, are ignored.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright::Repair;
    /// use toolwright::unstable::repair::{TruncatedInput, Repairer};
    ///
    /// let schema = json!({
    ///     "type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false,
    /// });
    /// let repairer = Repairer::new(&schema, [])?.named("delete_file");
    /// let repair = |text| repairer.repair(text, Repair::Standard, TruncatedInput::Refused);
    /// assert_eq!(repair(r#"{"name": "delete_file", "arguments": {"path": "a"}}"#)?.text, r#"{"path":"a"}"#);
    ///
    /// let refusal = repair(r#"read_file(path="a")"#).expect_err("this is a call of another tool");
    /// assert_eq!(
    ///     refusal.to_string(),
    ///     "input: found a call of \"read_file\", expected the input of \"delete_file\"; \
    ///      call another tool by its own name"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: ToolName::of(name), ..self }
    }

    /// Reads a text as the input, with repairs up to the given level.
    ///
    /// # Errors
    ///
    /// The problems that remain after the repair.
    pub fn repair(
        &self,
        text: &str,
        level: Repair,
        brackets: TruncatedInput,
    ) -> Result<RepairedInput, Refusal> {
        if text.len() > LONGEST {
            return self.accept(text).map_err(|refusal| match level {
                Repair::Off => refusal,
                Repair::Standard | Repair::Lenient => refusal.and_too_long(text.len(), LONGEST),
            });
        }
        let reach = match level {
            Repair::Off => {
                return self.accept(text).map_err(|refusal| self.with_example(refusal, text));
            }
            Repair::Standard => Reach::Standard,
            Repair::Lenient => Reach::Lenient,
        };
        self.attempt(text, reach, brackets)
            .map_err(|failure| self.with_example(self.refusal_of(failure), text))
    }

    /// Repairs as [`repair`](Self::repair) does, but as little as possible: it repairs leniently only if `level` allows
    /// that and the standard repair fails. Also returns whether the repair was lenient.
    ///
    /// # Errors
    ///
    /// The problems that remain after the repair.
    pub fn repair_least(
        &self,
        text: &str,
        level: Repair,
        brackets: TruncatedInput,
    ) -> Result<(RepairedInput, bool), Refusal> {
        if level == Repair::Lenient
            && text.len() <= LONGEST
            && let Ok(repaired) = self.attempt(text, Reach::Standard, brackets)
        {
            return Ok((repaired, false));
        }
        self.repair(text, level, brackets).map(|it| (it, level == Repair::Lenient))
    }

    /// Describes the problems of an input that could not be repaired.
    fn refusal_of(&self, failure: Failure) -> Refusal {
        match failure {
            Failure::Refused(refusal) => *refusal,
            Failure::Wrong { value, ambiguous } => self.refuse(&value, &ambiguous),
        }
    }

    /// Adds an example of the input that was probably meant, made by the most lenient repair of the text.
    fn with_example(&self, refusal: Refusal, text: &str) -> Refusal {
        let example = self.attempt(text, Reach::Example, TruncatedInput::Refused).ok();
        refusal.with_example(example.map(|it| it.text))
    }

    /// Accepts a text that needs no repair. The text may be longer than the maximum length for repairs.
    fn accept(&self, text: &str) -> Result<RepairedInput, Refusal> {
        let parsed = parse(text).map_err(|broken| unreadable(text, broken))?;
        if !parsed.uses.is_empty() {
            return Err(Refusal::of(Problem::new(Rule::Syntax, text, "JSON")));
        }
        let node = self.unique(parsed)?.0;
        if self.is_right(&node) {
            return Ok(RepairedInput { text: text.to_owned(), changes: Vec::new() });
        }
        Err(self.refuse(&node, &[]))
    }

    fn attempt(
        &self,
        text: &str,
        reach: Reach,
        brackets: TruncatedInput,
    ) -> Result<RepairedInput, Failure> {
        let (node, uses) = self.read(text, brackets)?;
        if uses.is_empty() && self.is_right(&node) {
            return Ok(RepairedInput { text: text.to_owned(), changes: Vec::new() });
        }
        let mut changes = Vec::new();
        if !uses.is_empty() {
            let (rule, from) = (uses.rule(TEXT_RULES), text.to_owned());
            changes.push(Change { pointer: String::new(), rule, from, to: node.text() });
        }
        let is_call = uses.contains(ChangeRule::Tag);
        self.repair_value(node, changes, is_call, reach)
    }

    /// Parses the value in a text. Also returns the notations in the text that are not JSON.
    fn read(&self, text: &str, brackets: TruncatedInput) -> Result<(Node, Uses), Refusal> {
        let parsed = match parse(text) {
            Ok(parsed) => Ok(parsed),
            Err(_) if text.trim().is_empty() => {
                let mut uses = Uses::default();
                uses.add(ChangeRule::NoArguments);
                return Ok((Node::Object(Vec::new()), uses));
            }
            Err(_) => {
                let is_key = |word: &str| self.spells_key(word);
                match extract(text, brackets == TruncatedInput::Completed, &self.name, &is_key) {
                    Ok(parsed) => Ok(parsed),
                    Err(NoInput::Unreadable(broken)) => Err(broken),
                    Err(NoInput::OfAnother(called)) => return Err(self.of_another(called)),
                }
            }
        };
        self.unique(parsed.map_err(|broken| unreadable(text, broken))?)
    }

    /// Refuses an input that has a key twice in one object.
    fn unique(&self, parsed: ParsedValue) -> Result<(Node, Uses), Refusal> {
        if !parsed.duplicates.is_empty() {
            let problem = |pointer: String| {
                let key = pointer.rsplit('/').next().unwrap_or_default();
                let mut problem = Problem::duplicate_key(&unescape(key));
                problem.pointer = pointer;
                problem
            };
            let Duplicates { pointers, more } = parsed.duplicates;
            return Err(Refusal::new(pointers.into_iter().map(problem).collect(), more));
        }
        Ok((parsed.node, parsed.uses))
    }

    /// Repairs a value. If the value is a wrapper around the input, repairs the input inside of the wrapper.
    fn repair_value(
        &self,
        mut node: Node,
        mut changes: Vec<Change>,
        is_call: bool,
        reach: Reach,
    ) -> Result<RepairedInput, Failure> {
        let mut wrong = None;
        for _ in 0..=MOST_WRAPPERS {
            let mut attempt = node.clone();
            let mut made = changes.clone();
            if matches!(&attempt, Node::Null) || attempt == Node::Text(String::new()) {
                let nothing = Node::Object(Vec::new());
                if self.is_right(&nothing) {
                    replace(&mut made, ChangeRule::NoArguments, &attempt, &nothing);
                    attempt = nothing;
                }
            }
            let most = self.schema.patience + 4 * LONGEST.min(attempt.weight() * 64);
            let mut guide = Guide::new(&self.schema, &self.aliases, reach, most);
            guide.fix(&mut attempt, 0, 0);
            // A repair that ran out of steps may have made a change without recording it.
            if !guide.is_exhausted() && self.is_right(&attempt) {
                made.append(&mut guide.changes);
                return Ok(RepairedInput { text: attempt.text(), changes: made });
            }
            if guide.is_exhausted() {
                let expected = "an input with fewer readings, written as the schema says";
                return Err(Refusal::of(Problem::new(Rule::Other, "", expected)).into());
            }
            let is_object = matches!(attempt, Node::Object(_));
            if wrong.is_none() || is_object {
                wrong = Some(Failure::Wrong { value: attempt, ambiguous: guide.ambiguous });
            }
            let held = wrap::find_input(&node, is_call, &self.name, |key| self.is_key(key));
            let inner = match held {
                WrappedInput::Input(inner) => inner.clone(),
                WrappedInput::OfAnother(called) => return Err(self.of_another(called).into()),
                WrappedInput::Nothing => break,
            };
            replace(&mut changes, ChangeRule::Wrapper, &node, &inner);
            node = inner;
            if let Node::Text(text) = &node
                && let Some(inner) = parse::parse_nested(text, 0)
            {
                replace(&mut changes, ChangeRule::Stringified, &node, &inner);
                node = inner;
            }
        }
        Err(wrong.unwrap_or_else(|| Failure::Wrong { value: node, ambiguous: Vec::new() }))
    }

    fn is_right(&self, node: &Node) -> bool {
        node.depth() <= MAX_DEPTH
            && node.value().is_some_and(|value| self.schema.root.is_valid(&value))
    }

    /// Returns whether the tool's input has this key.
    fn is_key(&self, key: &str) -> bool {
        self.schema.sites[0].shapes.iter().any(|shape| shape.properties.contains_key(key))
    }

    /// Returns whether a word is a key of the input or an alias of a key, in any spelling.
    fn spells_key(&self, word: &str) -> bool {
        let known = self.known.get_or_init(|| {
            let shapes = self.schema.sites[0].shapes.iter();
            let keys = shapes.flat_map(|it| it.properties.keys().map(String::as_str));
            keys.chain(self.aliases.names()).map(fold).collect()
        });
        known.contains(&fold(word))
    }

    fn of_another(&self, called: &str) -> Refusal {
        let known = self.name.known().map_or("this tool".to_owned(), quote);
        let expected = format!("the input of {known}; call another tool by its own name");
        let found = format!("a call of {}", quote(called));
        Refusal::of(Problem::new(Rule::Value, &found, expected))
    }

    fn refuse(&self, node: &Node, ambiguous: &[(String, String)]) -> Refusal {
        let (mut problems, unlisted) = problems::problems(&self.schema, node);
        let unclear: HashSet<&str> = ambiguous.iter().map(|(pointer, _)| &**pointer).collect();
        problems.retain(|problem| !unclear.contains(problem.pointer.as_str()));
        problems.extend(ambiguous.iter().map(|(pointer, readings)| {
            let words = format!("this may be read as {readings}; say which");
            let mut problem = Problem::new(Rule::Other, "", words);
            problem.pointer.clone_from(pointer);
            problem
        }));
        Refusal { attempt: Some(node.text()), ..Refusal::new(problems, unlisted) }
    }
}

impl std::fmt::Debug for Repairer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Repairer").field("schema", &self.schema.source).finish_non_exhaustive()
    }
}

/// Records that a rule replaced the whole input.
fn replace(changes: &mut Vec<Change>, rule: ChangeRule, from: &Node, to: &Node) {
    let (from, to) = (from.text(), to.text());
    changes.push(Change { pointer: String::new(), rule, from, to });
}
