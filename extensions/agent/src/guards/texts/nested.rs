//! Finds the texts in a call's arguments that only the executor sees: it also reads notations that are not JSON, such as
//! `{'to':'\x41cme'}`, and JSON inside of a string. Pure.

use toolwright::unstable::json::{Node, read, read_nested, read_within};

/// The maximum number of layers in which JSON inside of a string is read.
const LAYERS: usize = 4;

/// Lists the texts in arguments that neither the arguments themselves show, nor the JSON strings in them.
pub(super) fn nested(arguments: &str) -> Vec<String> {
    let mut texts = Vec::new();
    if let Ok(node) = read(arguments) {
        each_text(&node, &mut |text| add_nested(text, LAYERS, &mut texts));
        return texts;
    }
    if let Some(node) = read_within(arguments) {
        add_texts(&node, LAYERS, &mut texts);
    }
    // A part that has no brackets, such as the arguments in `mail(to='\x41cme')`, is read without its structure.
    let mut plain = unescaped(arguments);
    for _ in 0..LAYERS {
        let Some(text) = plain else { break };
        plain = unescaped(&text);
        texts.push(text);
    }
    texts
}

/// Adds the texts of the array or object that a text contains.
fn add_nested(text: &str, layers: usize, texts: &mut Vec<String>) {
    if let Some(node) = read_nested(text, 0).filter(|_| layers > 0) {
        add_texts(&node, layers, texts);
    }
}

fn add_texts(node: &Node, layers: usize, texts: &mut Vec<String>) {
    each_text(node, &mut |text| {
        add_nested(text, layers - 1, texts);
        texts.push(text.to_owned());
    });
}

fn each_text(node: &Node, take: &mut dyn FnMut(&str)) {
    match node {
        Node::Text(text) => take(text),
        Node::Array(items) => items.iter().for_each(|item| each_text(item, take)),
        Node::Object(entries) => {
            for (key, value) in entries {
                take(key);
                each_text(value, take);
            }
        }
        _ => {}
    }
}

/// Decodes the escapes of JSON and Python in a text; `None` if it has none.
fn unescaped(text: &str) -> Option<String> {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, escape)) = rest.split_once('\\') {
        plain.push_str(before);
        let (letter, length) = match escape.chars().next() {
            // A backslash at the end is no escape.
            None => {
                rest = "\\";
                break;
            }
            Some('u') => coded(escape, 4),
            Some('x') => coded(escape, 2),
            Some('n') => ('\n', 1),
            Some('t') => ('\t', 1),
            Some('r') => ('\r', 1),
            Some(other) => (other, other.len_utf8()),
        };
        plain.push(letter);
        rest = escape.get(length..).unwrap_or_default();
    }
    text.contains('\\').then(|| plain + rest)
}

/// Decodes an escape that begins with a letter and this many hexadecimal digits. Returns the character and the length
/// of the escape without its backslash.
fn coded(escape: &str, digits: usize) -> (char, usize) {
    let code = |from: usize| u32::from_str_radix(escape.get(from..from + digits)?, 16).ok();
    let low = escape.get(5..7).filter(|it| *it == "\\u").and_then(|_| code(7));
    let (code, length) = match (code(1), low) {
        (Some(high @ 0xd800..0xdc00), Some(low @ 0xdc00..0xe000)) => {
            (Some(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)), 11)
        }
        (code, _) => (code, digits + 1),
    };
    code.and_then(char::from_u32).map_or(('\\', 0), |letter| (letter, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_behind_other_notations_and_in_strings_are_found() {
        for arguments in [
            r#"{'to':'\u0041cme'}"#,
            r#"{'to':'\x41cme'}"#,
            "{\"to\":\"\\u0041cme\t\"}",
            "{\"to\":\"\\u0041cme\n\"}",
            r#"{"mail":"{\"to\":\"\\u0041cme\"}"}"#,
            r#"{"mail":"{'to':'\\x41cme'}"}"#,
            r#"mail(to='\x41cme')"#,
            r#"```json {"to":"\u0041cme"} ```"#,
        ] {
            let found = nested(arguments);
            assert!(found.iter().any(|it| it.contains("Acme")), "{arguments}: {found:?}");
        }
        assert!(nested(r#"{"to":"\u0041cme","at":"C:\\new [1]"}"#).is_empty());
    }

    #[test]
    fn escapes_that_are_not_whole_end_nothing() {
        assert_eq!(
            unescaped(r"\ud83d\ude00 \xzz \u00 \é \").unwrap(),
            "\u{1f600} \\xzz \\u00 é \\"
        );
        assert_eq!(unescaped("plain"), None);
    }
}
