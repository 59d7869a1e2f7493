//! Finds the values of an expected type that a value of another type may mean. Numbers are handled as text.
//!
//! - Nothing is rounded or replaced by a default: a reading preserves the value, except for white space around a text.

use super::Types;
use crate::json::tree::{Node, is_integral, is_number};
use crate::repairs::ChangeRule;

/// Lists the possible readings of a value as one of the expected types.
pub fn readings(node: &Node, wanted: Types, lenient: bool) -> Vec<(Node, ChangeRule)> {
    let mut found = Vec::new();
    match node {
        Node::Text(text) => {
            let text = text.trim();
            if wanted.has(Types::BOOLEAN)
                && let Some(value) = boolean(text, lenient)
            {
                found.push((Node::Bool(value), ChangeRule::Boolean));
            }
            if wanted.has(Types::INTEGER)
                && let Some(number) = number(text, lenient)
            {
                if is_integral(&number) {
                    found.push((Node::Number(number), ChangeRule::Integer));
                } else if wanted.has(Types::NUMBER) {
                    found.push((Node::Number(number), ChangeRule::Number));
                }
            }
        }
        Node::Number(digits) => {
            if wanted.has(Types::TEXT) {
                found.push((Node::Text(digits.clone()), ChangeRule::Text));
            }
            if lenient && wanted.has(Types::BOOLEAN) && (digits == "0" || digits == "1") {
                found.push((Node::Bool(digits == "1"), ChangeRule::Boolean));
            }
        }
        Node::Bool(value) if wanted.has(Types::TEXT) => {
            found.push((Node::Text(value.to_string()), ChangeRule::Text));
        }
        Node::Array(items) if lenient && wanted.has(Types::TEXT) && !items.is_empty() => {
            let lines: Option<Vec<String>> = items.iter().map(line).collect();
            if let Some(lines) = lines {
                found.push((Node::Text(lines.join("\n")), ChangeRule::Joined));
            }
        }
        _ => {}
    }
    found
}

fn boolean(text: &str, lenient: bool) -> Option<bool> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if ["true", "1", "yes"].into_iter().any(is) || (lenient && is("on")) {
        Some(true)
    } else if ["false", "0", "no"].into_iter().any(is) || (lenient && is("off")) {
        Some(false)
    } else {
        None
    }
}

fn number(text: &str, lenient: bool) -> Option<String> {
    if is_number(text) {
        return Some(text.to_owned());
    }
    let without = lenient.then(|| without_grouping(text)).flatten()?;
    is_number(&without).then_some(without)
}

/// Removes the commas from a number such as `1,000,000`. `None` if the commas do not separate groups of three digits.
fn without_grouping(text: &str) -> Option<String> {
    let (whole, fraction) = match text.find('.') {
        Some(point) => text.split_at(point),
        None => (text, ""),
    };
    let mut groups = whole.trim_start_matches('-').split(',');
    let first = groups.next()?.len();
    let mut more = groups.peekable();
    let grouped = more.peek().is_some() && (1..=3).contains(&first) && !fraction.contains(',');
    (grouped && more.all(|group| group.len() == 3))
        .then(|| format!("{}{fraction}", whole.replace(',', "")))
}

fn line(node: &Node) -> Option<String> {
    match node {
        Node::Text(text) => Some(text.clone()),
        Node::Number(digits) => Some(digits.clone()),
        Node::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Node {
        Node::Text(text.to_owned())
    }

    fn only(node: &Node, wanted: Types, lenient: bool) -> Option<String> {
        readings(node, wanted, lenient).first().map(|(node, _)| node.text())
    }

    #[test]
    fn booleans_are_written_in_few_ways() {
        for (written, value) in [
            ("true", "true"),
            (" TRUE ", "true"),
            ("1", "true"),
            ("Yes", "true"),
            ("False", "false"),
            ("0", "false"),
            ("no", "false"),
        ] {
            assert_eq!(only(&text(written), Types::BOOLEAN, false).as_deref(), Some(value));
        }
        for junk in ["on", "off", "2", "", "y", "enabled", "null", "truee"] {
            assert_eq!(only(&text(junk), Types::BOOLEAN, false), None, "{junk}");
        }
        assert_eq!(only(&text("on"), Types::BOOLEAN, true).as_deref(), Some("true"));
        assert_eq!(only(&text("enabled"), Types::BOOLEAN, true), None);
        let one = Node::Number("1".into());
        assert_eq!(only(&one, Types::BOOLEAN, false), None);
        assert_eq!(only(&one, Types::BOOLEAN, true).as_deref(), Some("true"));
        assert_eq!(only(&Node::Number("2".into()), Types::BOOLEAN, true), None);
    }

    #[test]
    fn numbers_keep_their_digits() {
        for digits in
            ["42", "9007199254740993", "-7", "2.0", "1e3", "123456789012345678901234567890"]
        {
            let padded = text(&format!(" {digits} "));
            assert_eq!(only(&padded, Types::INTEGER, false).as_deref(), Some(digits));
        }
        assert_eq!(only(&text("3.5"), Types::NUMBER, false).as_deref(), Some("3.5"));
        for junk in ["17.32", "abc", "", "1,000", "0x10", "+1", "007", "1 2", "1e-1", "٣", "NaN"] {
            assert_eq!(only(&text(junk), Types::INTEGER, false), None, "{junk}");
        }
    }

    #[test]
    fn grouped_digits_are_taken_leniently_where_the_groups_are_right() {
        assert_eq!(only(&text("1,234,567"), Types::INTEGER, true).as_deref(), Some("1234567"));
        assert_eq!(only(&text("-1,000.5"), Types::NUMBER, true).as_deref(), Some("-1000.5"));
        for junk in ["1,0", "1000,000", ",100", "1,,000", "1,000,", "0,001", "1,5"] {
            assert_eq!(only(&text(junk), Types::NUMBER, true), None, "{junk}");
        }
    }

    #[test]
    fn a_text_is_made_of_scalars_and_of_lines_leniently() {
        let number = Node::Number("5.10".into());
        assert_eq!(only(&number, Types::TEXT, false).as_deref(), Some("\"5.10\""));
        assert_eq!(only(&Node::Bool(true), Types::TEXT, false).as_deref(), Some("\"true\""));
        assert_eq!(only(&Node::Null, Types::TEXT, true), None);
        let lines = Node::Array(vec![text("a"), number]);
        assert_eq!(only(&lines, Types::TEXT, false), None);
        assert_eq!(only(&lines, Types::TEXT, true).as_deref(), Some("\"a\\n5.10\""));
    }
}
