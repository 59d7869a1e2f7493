//! Advice for a person at a terminal after a failed call. The executor's hints are written for models, which can do
//! other things than a person.
//!
//! A hint of the tool itself is shown unchanged.

/// The words before the input that was probably meant, in the message of a refusal.
const MEANT: &str = "if this is meant, send it: ";

/// Replaces a hint of the executor by a hint for a person. Returns `None` if the person can do nothing.
pub(super) fn for_a_person(hint: &str) -> Option<&str> {
    match HINTS.iter().find(|(model, _)| *model == hint) {
        Some((_, person)) => Some(*person).filter(|it| !it.is_empty()),
        None => Some(hint),
    }
}

/// Replaces the advice to send a certain JSON input by the command-line option that gives this input.
pub(super) fn message(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix(MEANT) {
        Some(input) => format!("if this is meant, give --json '{}'", input.replace('\'', r"'\''")),
        None => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

const HINTS: [(&str, &str); 21] = [
    ("go on without it, or call it by itself", "call it by itself"),
    ("call again, with an id of its own", "give each call an id of its own"),
    ("call one of the tools that you were given", "`tools list` shows the tools"),
    ("correct the input and call again", "correct it; --help says what the tool takes"),
    ("ask for less at once, or go on without it", "ask for less at once"),
    (
        "do not make this call again; find another way, or tell the user",
        "`policy explain` says which rule of the policy decides",
    ),
    ("call again later", "run it again later"),
    ("call again later, or go on without it", "run it again later"),
    ("do not ask for it again", ""),
    (
        "do not repeat it; a person has to find out",
        "do not run it again before you know; `toolwright indeterminate` records what you find out",
    ),
    ("do not repeat it; tell the user", "do not run it again before you know what it has done"),
    (
        "do not repeat it; go on without this call",
        "do not run it again before the journal says what became of it",
    ),
    ("go on without it", ""),
    ("go on without it, and say what you would have done", ""),
    (
        "go on without it, or tell the user that it needs approval",
        "run it again when a person can approve it",
    ),
    (
        "go on without it, or tell the user that it did not answer",
        "run it again when who carries it out can be reached",
    ),
    ("go on without it, or try again later", "try again later"),
    ("go on without this call, or say that it is needed", ""),
    (
        "go on without this call, or tell the user that it needs approval",
        "nothing ran; run it where the application can ask a person for approval",
    ),
    ("there are no tools", "there are no tools"),
    ("try again later, or go on without it", "try again later"),
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The texts that product code gives to `hint`.
    fn hints(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                hints(&path, found);
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            let product = source.split("#[cfg(test)]").next().unwrap();
            for line in product.lines().filter(|line| !line.trim_start().starts_with("//")) {
                let given = line.split_once(".hint(\"").and_then(|(_, rest)| rest.split_once('"'));
                found.extend(given.map(|(text, _)| text.to_owned()));
            }
        }
    }

    #[test]
    fn each_hint_of_the_executor_has_words_for_a_person() {
        let mut found = Vec::new();
        for crate_below in ["core", "journal", "executor", "cli"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(crate_below);
            hints(&folder.join("src"), &mut found);
        }
        assert!(found.len() > 15, "{found:?}");
        for hint in found {
            assert!(HINTS.iter().any(|(model, _)| *model == hint), "add to HINTS: {hint:?}");
        }
        for (_, person) in HINTS {
            assert!(!person.contains("the user") && !person.contains("go on without"), "{person}");
        }
    }

    #[test]
    fn an_input_that_was_meant_is_an_option_to_copy() {
        assert_eq!(
            message("/a: missing\nif this is meant, send it: {\"a\":\"it's\"}"),
            "/a: missing\nif this is meant, give --json '{\"a\":\"it'\\''s\"}'"
        );
    }
}
