//! Resolves references in arguments: replaces `{"$result":"lr_3","path":"/items/0/id"}` by the value before the
//! executor gets the call.

use std::collections::HashMap;

use toolwright::unstable::json::{Node, read, read_within};
use toolwright::{ErrorClass, ToolError};

use super::text::number;

/// The key that makes an object a reference.
const KEY: &str = "$result";

/// The maximum number of bytes that references may add to the arguments of one call.
const MOST: usize = 1_000_000;

/// The maximum number of wrong references that an error lists.
const MOST_PROBLEMS: usize = 20;

/// The answers to which the references of a call may refer.
pub(super) trait KnownAnswers {
    /// Returns the answer with this handle: its value, or its text if it is not JSON; `None` if the run has no such
    /// answer.
    fn answer(&self, handle: &str) -> Option<FoundAnswer>;

    /// Returns a text that lists the handles of these answers, for error messages.
    fn handles(&self) -> String;

    /// Returns why an argument of the called tool takes no reference; `None` if it takes references.
    fn refusal(&self, argument: &str) -> Option<String>;
}

/// The answer to which a reference refers.
pub(super) enum FoundAnswer {
    Value(Node),
    Text(String),
}

/// Reports whether arguments may contain a reference.
pub(crate) fn has_reference(arguments: &str) -> bool {
    arguments.contains(KEY)
}

/// Replaces the references in arguments. Returns `None` if there are no references.
///
/// # Errors
/// Of kind `invalid_reference`, with the location of every reference that cannot be resolved; also for arguments that
/// have a reference and are not valid JSON. The executor may repair such arguments, and the tool would get the
/// reference itself.
pub(super) fn resolved(
    arguments: &str,
    known: &dyn KnownAnswers,
) -> Result<Option<String>, ToolError> {
    if !has_reference(arguments) {
        return Ok(None);
    }
    let mut entries = match read(arguments) {
        Ok(Node::Object(entries)) => entries,
        Ok(_) => return Ok(None),
        Err(_) if read_within(arguments).is_some_and(|it| holds_reference(&it)) => {
            let message = "arguments with a reference have to be valid JSON";
            return Err(invalid(message.to_owned(), "write the arguments as JSON"));
        }
        Err(_) => return Ok(None),
    };
    let (read, problems) = (HashMap::new(), Vec::new());
    let mut walk = Walk { known, read, is_changed: false, left: MOST, problems };
    for (key, value) in &mut entries {
        let refusal = known.refusal(key);
        walk.replace(value, &mut format!("/{}", escaped(key)), refusal.as_deref());
    }
    if !walk.problems.is_empty() {
        let hint = "correct the reference, or write the value itself";
        return Err(invalid(walk.problems.join("\n"), hint));
    }
    Ok(walk.is_changed.then(|| Node::Object(entries).text()))
}

fn invalid(message: String, hint: &'static str) -> ToolError {
    ToolError::new("invalid_reference", message).class(ErrorClass::Invalid).hint(hint)
}

/// Reports whether a value below this value is a reference.
fn holds_reference(value: &Node) -> bool {
    let is_one = |it: &Node| reference(it).is_some() || holds_reference(it);
    match value {
        Node::Object(entries) => entries.iter().any(|(_, value)| is_one(value)),
        Node::Array(items) => items.iter().any(is_one),
        _ => false,
    }
}

struct Walk<'k> {
    known: &'k dyn KnownAnswers,
    /// The answers that references have named, because many references may name one large answer.
    read: HashMap<String, FoundAnswer>,
    is_changed: bool,
    /// How many bytes the references may still add to the arguments.
    left: usize,
    problems: Vec<String>,
}

/// A reference, as the model wrote it.
struct Reference<'n> {
    handle: &'n str,
    path: &'n str,
}

impl Walk<'_> {
    fn replace(&mut self, value: &mut Node, place: &mut String, refusal: Option<&str>) {
        if self.problems.len() > MOST_PROBLEMS {
            return;
        }
        if let Some(written) = reference(value) {
            let found = written.and_then(|reference| match refusal {
                Some(refusal) => Err(refusal.to_owned()),
                None => self.value(&reference),
            });
            match found {
                Ok(found) => (*value, self.is_changed) = (found, true),
                Err(_) if self.problems.len() == MOST_PROBLEMS => {
                    self.problems.push("… and more".to_owned());
                }
                Err(why) => self.problems.push(format!("{place}: {why}")),
            }
            return;
        }
        let length = place.len();
        let mut below = |this: &mut Self, key: &str, value: &mut Node| {
            place.push('/');
            place.push_str(&escaped(key));
            this.replace(value, place, refusal);
            place.truncate(length);
        };
        match value {
            Node::Object(entries) => {
                entries.iter_mut().for_each(|(key, value)| below(self, key, value));
            }
            Node::Array(items) => {
                let items = items.iter_mut().enumerate();
                items.for_each(|(index, item)| below(self, &index.to_string(), item));
            }
            _ => {}
        }
    }

    fn value(&mut self, reference: &Reference<'_>) -> Result<Node, String> {
        let Reference { handle, path } = *reference;
        if !self.read.contains_key(handle)
            && let Some(answer) = self.known.answer(handle)
        {
            self.read.insert(handle.to_owned(), answer);
        }
        let answer = self.read.get(handle).ok_or_else(|| {
            format!("this run has no result `{handle}`; {}", self.known.handles())
        })?;
        let text;
        let value = match (answer, path) {
            (FoundAnswer::Text(answer), "") => {
                text = Node::Text(answer.clone());
                &text
            }
            (FoundAnswer::Text(_), _) => {
                return Err(format!(
                    "`{handle}` is a text and no JSON, in which `{path}` is no place; leave `path` out"
                ));
            }
            (FoundAnswer::Value(value), _) => {
                at(value, path).map_err(|why| format!("`{handle}` has no `{path}`: {why}"))?
            }
        };
        let size = value.text().len();
        self.left = self.left.checked_sub(size).ok_or_else(|| {
            format!(
                "`{handle}` brings {} bytes with `{path}`, and the arguments of a call have at most {}; refer to a part of it",
                number(size),
                number(MOST)
            )
        })?;
        Ok(value.clone())
    }
}

/// Parses a reference; `None` if the value is not one. The error says why a reference is not valid.
fn reference(value: &Node) -> Option<Result<Reference<'_>, String>> {
    let Node::Object(entries) = value else { return None };
    let of = |wanted: &str| entries.iter().find(|(key, _)| key == wanted).map(|(_, value)| value);
    let handle = of(KEY)?;
    let path = of("path");
    let is_alone = entries.len() == 1 + usize::from(path.is_some());
    // An object that also has other keys is not a reference.
    if !is_alone {
        return None;
    }
    Some(match (handle, path) {
        (Node::Text(handle), None) => Ok(Reference { handle, path: "" }),
        (Node::Text(handle), Some(Node::Text(path)))
            if path.is_empty() || path.starts_with('/') =>
        {
            Ok(Reference { handle, path })
        }
        (Node::Text(_), Some(_)) => {
            Err("`path` is a JSON pointer, such as `/items/0/id`".to_owned())
        }
        _ => Err(format!("`{KEY}` is a handle, such as `lr_3`")),
    })
}

/// Returns the value at a JSON pointer, or the reason why no value is found.
fn at<'n>(value: &'n Node, pointer: &str) -> Result<&'n Node, String> {
    let (mut found, mut place) = (value, String::new());
    for segment in pointer.split('/').skip(1) {
        let key = segment.replace("~1", "/").replace("~0", "~");
        let here = if place.is_empty() { "it" } else { &place };
        found = match found {
            Node::Object(entries) => {
                let field = entries.iter().find(|(name, _)| *name == key);
                field.map(|(_, value)| value).ok_or_else(|| format!("{here} has no key `{key}`"))?
            }
            Node::Array(items) => {
                let is_index = segment.bytes().all(|it| it.is_ascii_digit());
                let item = segment.parse::<usize>().ok().filter(|_| is_index);
                item.and_then(|index| items.get(index)).ok_or_else(|| {
                    format!("{here} is an array of {} items, counted from 0", number(items.len()))
                })?
            }
            Node::Text(_) => return Err(format!("{here} is a string")),
            Node::Number(_) => return Err(format!("{here} is a number")),
            Node::Bool(_) => return Err(format!("{here} is a boolean")),
            Node::Null => return Err(format!("{here} is null")),
        };
        place = format!("{place}/{segment}");
    }
    Ok(found)
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const PACKAGES: &str = r#"{"packages":[{"name":"serde","id":90071992547409931234}],"a/b":{"m~n":[1]},"none":null}"#;

    struct Answers;

    impl KnownAnswers for Answers {
        fn answer(&self, handle: &str) -> Option<FoundAnswer> {
            Some(match handle {
                "lr_1" => FoundAnswer::Value(read(PACKAGES).expect("JSON")),
                "lr_2" => FoundAnswer::Text("a text\n".to_owned()),
                "lr_3" => FoundAnswer::Value(Node::Array(vec![Node::Text("x".repeat(MOST))])),
                "lr_4" => FoundAnswer::Text("x".repeat(MOST / 10 * 6)),
                _ => return None,
            })
        }

        fn handles(&self) -> String {
            "it has lr_1 to lr_3".to_owned()
        }

        fn refusal(&self, argument: &str) -> Option<String> {
            (argument == "password").then(|| "it is secret".to_owned())
        }
    }

    /// Counts how often an answer is read.
    #[derive(Default)]
    struct Counting(Cell<usize>);

    impl KnownAnswers for Counting {
        fn answer(&self, handle: &str) -> Option<FoundAnswer> {
            self.0.set(self.0.get() + 1);
            Answers.answer(handle)
        }

        fn handles(&self) -> String {
            Answers.handles()
        }

        fn refusal(&self, argument: &str) -> Option<String> {
            Answers.refusal(argument)
        }
    }

    fn arguments(text: &str) -> String {
        resolved(text, &Answers)
            .expect("every reference has a value")
            .unwrap_or_else(|| text.to_owned())
    }

    fn refused(text: &str) -> String {
        let error = resolved(text, &Answers).expect_err("it has no value");
        assert_eq!(error.kind(), "invalid_reference");
        error.message().to_owned()
    }

    #[test]
    fn a_reference_becomes_the_value_with_its_numbers_as_they_are_written() {
        let cases = [
            (
                r#"{"id":{"$result":"lr_1","path":"/packages/0/id"}}"#,
                r#"{"id":90071992547409931234}"#,
            ),
            (r#"{"of":[{"n":{"$result":"lr_1","path":"/a~1b/m~0n/0"}}]}"#, r#"{"of":[{"n":1}]}"#),
            (r#"{"text":{"$result":"lr_2"}}"#, r#"{"text":"a text\n"}"#),
            (
                r#"{"all":{"$result":"lr_1","path":""},"x":1.50}"#,
                &format!(r#"{{"all":{PACKAGES},"x":1.50}}"#),
            ),
        ];
        for (written, expected) in cases {
            assert_eq!(arguments(written), expected);
        }
    }

    #[test]
    fn what_is_no_reference_stays_as_it_is() {
        let cases = [
            r#"{"$result":"lr_1"}"#,
            r#"{"filter":{"$result":"lr_1","limit":3}}"#,
            r#"{"text":"{\"$result\":\"lr_1\"}"}"#,
            r#"{"script":"echo $result",}"#,
        ];
        for written in cases {
            assert_eq!(arguments(written), written);
        }
    }

    #[test]
    fn a_reference_without_a_value_is_refused_by_its_place() {
        let cases = [
            (
                r#"{"a":{"$result":"lr_9"}}"#,
                "/a: this run has no result `lr_9`; it has lr_1 to lr_3",
            ),
            (
                r#"{"a":[{"$result":"lr_1","path":"/packages/1"}]}"#,
                "/a/0: `lr_1` has no `/packages/1`: /packages is an array of 1 items, counted from 0",
            ),
            (
                r#"{"a":{"$result":"lr_1","path":"/packages/-1"}}"#,
                "/a: `lr_1` has no `/packages/-1`: /packages is an array of 1 items, counted from 0",
            ),
            (
                r#"{"a":{"$result":"lr_1","path":"/nothing"}}"#,
                "/a: `lr_1` has no `/nothing`: it has no key `nothing`",
            ),
            (
                r#"{"a":{"$result":"lr_1","path":"/packages/0/name/0"}}"#,
                "/a: `lr_1` has no `/packages/0/name/0`: /packages/0/name is a string",
            ),
            (
                r#"{"a":{"$result":"lr_1","path":"/none/x"}}"#,
                "/a: `lr_1` has no `/none/x`: /none is null",
            ),
            (
                r#"{"a":{"$result":"lr_2","path":"/x"}}"#,
                "/a: `lr_2` is a text and no JSON, in which `/x` is no place; leave `path` out",
            ),
            (
                r#"{"a":{"$result":"lr_1","path":"packages"}}"#,
                "/a: `path` is a JSON pointer, such as `/items/0/id`",
            ),
            (r#"{"a":{"$result":3}}"#, "/a: `$result` is a handle, such as `lr_3`"),
            (r#"{"password":{"$result":"lr_2"}}"#, "/password: it is secret"),
        ];
        for (written, expected) in cases {
            assert_eq!(refused(written), expected);
        }
    }

    #[test]
    fn references_that_bring_too_much_are_refused() {
        let why = refused(r#"{"a":{"$result":"lr_3"}}"#);
        assert!(why.starts_with("/a: `lr_3` brings 1,000,004 bytes"), "{why}");
        let more_than_half = r#"{"$result":"lr_4"}"#;
        let why = refused(&format!(r#"{{"a":{more_than_half},"b":{more_than_half}}}"#));
        assert!(why.starts_with("/b: `lr_4` brings "), "{why}");
    }

    #[test]
    fn a_reference_in_arguments_that_the_executor_would_repair_is_refused() {
        for written in [
            r#"{"a":{"$result":"lr_1"},}"#,
            r"{'a':[{'$result':'lr_1'}]}",
            r#"{"a":{"$result":"lr_1""#,
        ] {
            assert_eq!(refused(written), "arguments with a reference have to be valid JSON");
        }
    }

    #[test]
    fn many_references_to_one_answer_read_it_once_and_few_problems_are_listed() {
        let many = |path: &str| {
            let one = format!(r#"{{"$result":"lr_1","path":"{path}"}},"#).repeat(1_000);
            format!(r#"{{"a":[{}]}}"#, one.trim_end_matches(','))
        };
        let counting = Counting::default();
        assert!(resolved(&many("/packages/0/id"), &counting).is_ok());
        assert_eq!(counting.0.get(), 1);
        let why = refused(&many("/nothing"));
        assert_eq!(why.lines().count(), MOST_PROBLEMS + 1);
        assert!(why.ends_with("\n… and more"), "{why}");
    }

    #[test]
    fn every_reference_that_is_wrong_is_named_at_once() {
        let why = refused(r#"{"a":{"$result":"lr_8"},"b":{"$result":"lr_9"}}"#);
        assert_eq!(why.lines().count(), 2, "{why}");
    }
}
