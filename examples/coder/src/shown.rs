//! Prepares texts of models and tools for a terminal: control characters are printed as escapes.

use serde_json::Value;
use toolwright::printable::acts;

/// How many lines of an answer are shown.
const LINES: usize = 24;

/// Returns the lines of an answer: for a program its exit code and output, for an error its message and hint.
pub fn answer(text: &str) -> Vec<String> {
    let value = serde_json::from_str::<Value>(text).unwrap_or_default();
    let part = |key: &str| value[key].as_str();
    let lines = match (part("output"), part("error_type"), part("message")) {
        (Some(output), ..) => {
            let how = match value["exit_code"].as_i64() {
                Some(code) => format!("exit code {code}"),
                None => part("error").unwrap_or("it was ended").to_owned(),
            };
            [vec![how], lines(output)].concat()
        }
        (None, Some(kind), Some(message)) => {
            let hint = part("next_action_hint").map(|hint| format!("hint: {hint}"));
            let hint = hint.map(|hint| lines(&hint)).unwrap_or_default();
            [lines(&format!("{kind}: {message}")), hint].concat()
        }
        _ => lines(text),
    };
    let more = lines.len().saturating_sub(LINES);
    let mut shown: Vec<String> = lines.into_iter().take(LINES).collect();
    if more > 0 {
        shown.push(format!("… {more} more lines"));
    }
    shown
}

/// Returns the lines that are not blank, with escapes for control characters.
pub fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(plain).collect()
}

/// Returns a text on one line.
pub fn line(text: &str) -> String {
    plain(&text.replace('\n', " "))
}

fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => plain.push_str("    "),
            character if acts(character) => plain.extend(character.escape_default()),
            character => plain.push(character),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_shown_by_its_exit_code_and_what_it_printed() {
        let ran = r#"{"success":false,"output":"one\n\ntwo\n","exit_code":101,"timed_out":false}"#;
        assert_eq!(answer(ran), ["exit code 101", "one", "two"]);
        let late = r#"{"success":false,"output":"","error":"it took more than 1 seconds and was ended","timed_out":true}"#;
        assert_eq!(answer(late), ["it took more than 1 seconds and was ended"]);
        assert_eq!(answer(r#"{"other":1}"#), [r#"{"other":1}"#]);
        let error = r#"{"is_error":true,"error_type":"not_found","message":"no such file","next_action_hint":"list them"}"#;
        assert_eq!(answer(error), ["not_found: no such file", "hint: list them"]);
    }

    #[test]
    fn a_long_answer_is_shown_by_its_beginning() {
        let shown = answer(&"line\n".repeat(LINES + 3));
        assert_eq!((shown.len(), shown[LINES].as_str()), (LINES + 1, "… 3 more lines"));
    }

    #[test]
    fn nothing_that_a_terminal_acts_upon_is_shown() {
        assert_eq!(lines("a\u{1b}[2Jb\r\u{202e}c\td"), ["a\\u{1b}[2Jb\\r\\u{202e}c    d"]);
        assert_eq!(line("a\nb"), "a b");
    }
}
