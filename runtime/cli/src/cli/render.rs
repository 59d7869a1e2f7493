//! Writes a result: JSON for programs, plain text for people.

use serde_json::Value;

use super::flags::Form;
use super::ordered::{entries, text};
use toolwright_core::output::Answer;
use toolwright_core::output::Content;
use toolwright_core::printable::lines;
use toolwright_wire::dialect::call_tool_result;

pub(super) fn answer(answer: &Answer, form: Form) -> String {
    let value = || answer.structured().map(|value| value.to_string());
    let json = answer.json().map(str::to_owned).or_else(value);
    match (form, json) {
        (Form::Json, Some(json)) => json,
        (Form::Json, None) => blocks(answer),
        (Form::Text, Some(json)) => for_people(&json),
        (Form::Text, None) => lines(&answer.text()),
    }
}

/// Writes a result that is not one value: one text as a string, several blocks as a list.
fn blocks(answer: &Answer) -> String {
    match answer.content().as_slice() {
        [] => "null".to_owned(),
        [Content::Text(words)] => text(words),
        [Content::Json(json)] => json.clone().into_owned(),
        _ => call_tool_result(answer)["content"].to_string(),
    }
}

/// Writes a value for people: text without quotes, a list with one item per line, an object with one key per line.
/// Nested values stay JSON. Characters that would act on a terminal are escaped.
pub(super) fn for_people(json: &str) -> String {
    lines(&plain(json))
}

fn plain(json: &str) -> String {
    if let Some(entries) = entries(json) {
        let lines = entries.into_iter().map(|(key, value)| {
            let words = word(value.get());
            let gap = if words.contains('\n') { "\n" } else { " " };
            format!("{key}:{gap}{words}")
        });
        return lines.collect::<Vec<_>>().join("\n");
    }
    match serde_json::from_str::<Vec<&serde_json::value::RawValue>>(json) {
        Ok(items) => items.iter().map(|item| word(item.get())).collect::<Vec<_>>().join("\n"),
        Err(_) => word(json),
    }
}

/// Returns a JSON string without its quotes, and any other JSON value unchanged.
fn word(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(Value::String(words)) => words,
        _ => json.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwright_core::output::Output;

    #[test]
    fn a_value_is_written_for_people_without_its_punctuation() {
        for (json, written) in [
            (r#""two\nlines""#, "two\nlines"),
            ("12345678901234567890.10", "12345678901234567890.10"),
            (r#"["a","b c",3,{"d":4}]"#, "a\nb c\n3\n{\"d\":4}"),
            (r#"{"z":"first","a":[1,2],"t":"two\nlines"}"#, "z: first\na: [1,2]\nt:\ntwo\nlines"),
            (
                r#"{"a\u001b[2J":"b\u0007","c":["\u202e"]}"#,
                "a\\u{1b}[2J: b\\u{7}\nc: [\"\\u202e\"]",
            ),
            (r#"["\u009b\r\n"]"#, "\\u{9b}\\r\n"),
            ("[]", ""),
            ("true", "true"),
        ] {
            assert_eq!(for_people(json), written);
        }
    }

    #[test]
    fn a_result_is_one_json_value_whatever_the_tool_gave() {
        let json = |output: Output| answer(&output.into(), Form::Json);
        assert_eq!(json(Output::text("say \"hi\"")), r#""say \"hi\"""#);
        assert_eq!(json(Output::text("3").structured(3.into())), "3");
        assert_eq!(json(Output::default()), "null");
        let blocks = json(Output::text("a").with(Content::json("{}")));
        assert_eq!(blocks, r#"[{"text":"a","type":"text"},{"text":"{}","type":"text"}]"#);
    }
}
