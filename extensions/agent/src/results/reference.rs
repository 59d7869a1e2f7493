//! Resolves references in arguments: replaces `{"$result":"lr_3","path":"/items/0/id"}` by the value before the
//! executor gets the call.

use toolwright::unstable::json::{Node, read};
use toolwright::{ErrorClass, ToolError};

use super::text::number;

/// The key that makes an object a reference.
const KEY: &str = "$result";

/// The maximum number of bytes that references may add to the arguments of one call.
const MOST: usize = 1_000_000;

/// The answers to which the references of a call may refer.
pub(super) trait KnownAnswers {
    /// Returns the answer with this handle: its value, or its text if it is not JSON; `None` if the run has no such
    /// answer.
    fn answer(&self, handle: &str) -> Option<FoundAnswer>;

    /// Returns a text that lists the handles of these answers, for error messages.
    fn handles(&self) -> String;

    /// Reports whether a parameter of the called tool is secret.
    fn is_secret(&self, parameter: &str) -> bool;
}

/// The answer to which a reference refers.
pub(super) enum FoundAnswer {
    Value(Node),
    Text(String),
}

/// Reports whether arguments may contain a reference.
pub(crate) fn has_reference(arguments: &str) -> bool {
    arguments.contains("\"$result\"")
}

/// Replaces the references in arguments. Returns `None` if there are no references, or if the arguments are not a valid
/// JSON object.
///
/// # Errors
/// Of kind `invalid_reference`, with the location of every reference that cannot be resolved.
pub(super) fn resolved(
    arguments: &str,
    known: &dyn KnownAnswers,
) -> Result<Option<String>, ToolError> {
    if !has_reference(arguments) {
        return Ok(None);
    }
    let Ok(Node::Object(mut entries)) = read(arguments) else { return Ok(None) };
    let mut walk = Walk { known, is_changed: false, left: MOST, problems: Vec::new() };
    for (key, value) in &mut entries {
        let is_secret = known.is_secret(key);
        walk.replace(value, &mut format!("/{}", escaped(key)), is_secret);
    }
    if !walk.problems.is_empty() {
        return Err(ToolError::new("invalid_reference", walk.problems.join("\n"))
            .class(ErrorClass::Invalid)
            .hint("correct the reference, or write the value itself"));
    }
    Ok(walk.is_changed.then(|| Node::Object(entries).text()))
}

struct Walk<'k> {
    known: &'k dyn KnownAnswers,
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
    fn replace(&mut self, value: &mut Node, place: &mut String, is_secret: bool) {
        if let Some(written) = reference(value) {
            let found = written.and_then(|reference| match is_secret {
                true => {
                    Err("it is secret, and takes no reference; write the value itself".to_owned())
                }
                false => self.value(&reference),
            });
            match found {
                Ok(found) => (*value, self.is_changed) = (found, true),
                Err(why) => self.problems.push(format!("{place}: {why}")),
            }
            return;
        }
        let length = place.len();
        let mut below = |this: &mut Self, key: &str, value: &mut Node| {
            place.push('/');
            place.push_str(&escaped(key));
            this.replace(value, place, is_secret);
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
        let answer = self.known.answer(handle).ok_or_else(|| {
            format!("this run has no result `{handle}`; {}", self.known.handles())
        })?;
        let value = match (answer, path) {
            (FoundAnswer::Text(text), "") => Node::Text(text),
            (FoundAnswer::Text(_), _) => {
                return Err(format!(
                    "`{handle}` is a text and no JSON, in which `{path}` is no place; leave `path` out"
                ));
            }
            (FoundAnswer::Value(value), _) => at(&value, path)
                .map_err(|why| format!("`{handle}` has no `{path}`: {why}"))?
                .clone(),
        };
        let size = value.text().len();
        self.left = self.left.checked_sub(size).ok_or_else(|| {
            format!(
                "`{handle}` brings {} bytes with `{path}`, and the arguments of a call have at most {}; refer to a part of it",
                number(size),
                number(MOST)
            )
        })?;
        Ok(value)
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

        fn is_secret(&self, parameter: &str) -> bool {
            parameter == "password"
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
            r#"{"cut":{"$result":"lr_1""#,
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
            (
                r#"{"password":{"$result":"lr_2"}}"#,
                "/password: it is secret, and takes no reference; write the value itself",
            ),
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
    fn every_reference_that_is_wrong_is_named_at_once() {
        let why = refused(r#"{"a":{"$result":"lr_8"},"b":{"$result":"lr_9"}}"#);
        assert_eq!(why.lines().count(), 2, "{why}");
    }
}
