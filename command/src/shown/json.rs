//! Embeds stored JSON text in the output for programs, and formats it for people. Numbers keep all of their digits.

use serde_json::value::RawValue;

/// Embeds JSON unchanged, but on one line. Text that is not JSON becomes a JSON string.
pub(crate) fn raw(text: &str) -> Box<RawValue> {
    // Outside of strings, a line break in JSON is white space; strings contain none.
    let line = text.replace(['\n', '\r'], " ");
    RawValue::from_string(line).unwrap_or_else(|_| {
        let quoted = serde_json::Value::from(text).to_string();
        RawValue::from_string(quoted).unwrap_or_else(|_| RawValue::NULL.to_owned())
    })
}

/// Formats valid JSON over several lines. All white space outside of strings is replaced.
pub(crate) fn in_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut letters = text.chars().peekable();
    let mut in_text = false;
    while let Some(letter) = letters.next() {
        if in_text {
            out.push(letter);
            match letter {
                '\\' => out.extend(letters.next()),
                '"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match letter {
            ' ' | '\t' | '\n' | '\r' => {}
            '{' | '[' => {
                out.push(letter);
                while letters.next_if(|it| it.is_ascii_whitespace()).is_some() {}
                if let Some(end) = letters.next_if(|it| matches!(it, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(letter);
            }
            ',' => {
                out.push(letter);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_text = letter == '"';
                out.push(letter);
            }
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_over_several_lines_keeps_its_texts_and_numbers() {
        let text = r#"{"id":9007199254740993, "a{\"":[1.50,[ ],{}],"b":"x, \\"}"#;
        let lines = "{\n  \"id\": 9007199254740993,\n  \"a{\\\"\": [\n    1.50,\n    [],\n    {}\n  ],\n  \"b\": \"x, \\\\\"\n}";
        assert_eq!(in_lines(text), lines);
    }

    #[test]
    fn what_is_no_json_is_a_text() {
        assert_eq!(raw("{\n\"a\":1.0}").get(), "{ \"a\":1.0}");
        assert_eq!(raw("(withheld)").get(), "\"(withheld)\"");
    }
}
