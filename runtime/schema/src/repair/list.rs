//! Finds lists that models write as text instead of an array: `a, b`, `[-v, -p]`, or one line for each item.
//!
//! - Such a text is never treated as a single item. Its items are uncertain, so they are used only in the example.

use toolwright_core::json::parse;
use toolwright_core::json::tree::Node;

/// The characters that separate items, from the strongest separator to the weakest.
const SEPARATORS: [&[char]; 3] = [&['\n', '\r'], &[';', '；'], &[',', '，', '、', '،']];
/// The marks with which a line begins if it is an item.
const BULLETS: [&str; 3] = ["- ", "* ", "• "];
/// The brackets that may surround a list.
const AROUND: [(char, char); 2] = [('[', ']'), ('{', '}')];

/// The quotes that may surround one item.
const MARKS: [char; 2] = ['"', '\''];

/// Returns whether a text looks like a list, or like the JSON of an array or object.
pub(super) fn is_list(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{']) || separator(text).is_some()
}

/// Divides a text into the items that it probably contains.
pub(super) fn items(text: &str, depth: usize) -> Option<Vec<Node>> {
    match parse::parse_nested(text, depth) {
        Some(Node::Array(items)) => return Some(items.into_iter().map(as_text).collect()),
        // The text is an object, so it is one item.
        Some(_) => return None,
        None => {}
    }
    let text = text.trim();
    let inner =
        AROUND.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    let inner = inner.unwrap_or(text);
    if let Some(Node::Array(items)) = parse::parse_nested(&format!("[{inner}]"), depth) {
        return Some(items);
    }
    let Some(separator) = separator(inner) else {
        return (inner.len() < text.len()).then(|| item(inner).map(|it| vec![it]))?;
    };
    inner.split(separator).filter(|it| !it.trim().is_empty()).map(item).collect()
}

/// Returns the strongest separator that divides a text into several parts that are not blank.
fn separator(text: &str) -> Option<&'static [char]> {
    let parts = |it: &[char]| text.split(it).filter(|part| !part.trim().is_empty()).count();
    SEPARATORS.into_iter().find(|it| parts(it) > 1)
}

/// Returns an item without its bullet and quotes; `None` if it begins or ends with a single quotation mark.
fn item(text: &str) -> Option<Node> {
    let text = text.trim();
    let text = BULLETS.iter().find_map(|it| text.strip_prefix(it)).unwrap_or(text).trim();
    let quoted = MARKS.iter().find_map(|it| text.strip_prefix(*it)?.strip_suffix(*it));
    let text = quoted.unwrap_or(text);
    let is_whole = !text.starts_with(MARKS) && !text.ends_with(MARKS);
    (is_whole && !text.is_empty()).then(|| Node::Text(text.to_owned()))
}

/// Converts an item to a text. An array or object becomes its JSON text.
fn as_text(item: Node) -> Node {
    if item.is_scalar() { item } else { Node::Text(item.text()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(text: &str) -> Option<String> {
        items(text, 0).map(|items| Node::Array(items).text())
    }

    #[test]
    fn a_text_is_a_list_where_words_are_separated_or_a_bracket_begins_it() {
        for list in
            ["a, b", "a,b", "a; b", "a\nb", "- a\r\n- b", "一、二", "[a", " {\"a\": 1}", "[]"]
        {
            assert!(is_list(list), "{list}");
        }
        for one in ["verbose", "two words", "a,", "\nverbose\n", ";", "", "-v", "f(a)", "a: b"] {
            assert!(!is_list(one), "{one}");
        }
    }

    #[test]
    fn the_items_of_a_list_are_proposed_without_what_separates_them() {
        for (list, expected) in [
            ("a, b", r#"["a","b"]"#),
            ("-v, -p", r#"["-v","-p"]"#),
            ("[-v, -p]", r#"["-v","-p"]"#),
            ("{a, b,}", r#"["a","b"]"#),
            ("- a, b\n- c", r#"["a, b","c"]"#),
            ("a, b; c", r#"["a, b","c"]"#),
            ("'a, b', c", "none"),
            ("'a, b', 'c'", r#"["a, b","c"]"#),
            ("1, 2", "[1,2]"),
            ("[verbose]", r#"["verbose"]"#),
            (r#"[{"id": 1}, {"id": 2}]"#, r#"["{\"id\":1}","{\"id\":2}"]"#),
            (r#"{"a": 1, "b": 2}"#, "none"),
            ("[a-z]+", "none"),
            (r#"say "a, b""#, "none"),
        ] {
            assert_eq!(proposed(list).as_deref().unwrap_or("none"), expected, "{list}");
        }
    }
}
