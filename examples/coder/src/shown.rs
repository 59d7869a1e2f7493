//! Texts of models and tools as a person reads them: nothing that a terminal would act upon.

use serde_json::Value;

/// How many lines of an answer are shown.
const LINES: usize = 24;

/// The lines of an answer; a program's exit code and what it printed.
pub fn answer(text: &str) -> Vec<String> {
    let process = serde_json::from_str::<Value>(text).ok().filter(|it| it["output"].is_string());
    let lines = match &process {
        None => lines(text),
        Some(process) => {
            let how = match (&process["exit_code"], &process["error"]) {
                (Value::Number(code), _) => format!("exit code {code}"),
                (_, Value::String(error)) => error.clone(),
                _ => "it was ended".to_owned(),
            };
            let output = process["output"].as_str().unwrap_or_default();
            [vec![how], lines(output)].concat()
        }
    };
    let more = lines.len().saturating_sub(LINES);
    let mut shown: Vec<String> = lines.into_iter().take(LINES).collect();
    if more > 0 {
        shown.push(format!("… {more} more lines"));
    }
    shown
}

/// The lines that have something in them, with escapes for control characters.
pub fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(plain).collect()
}

/// A text on one line.
pub fn line(text: &str) -> String {
    plain(&text.replace('\n', " "))
}

fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => plain.push_str("    "),
            // The second group turns the direction of what follows, so that a text reads otherwise than it is.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                plain.extend(character.escape_unicode());
            }
            character if character.is_control() => plain.extend(character.escape_default()),
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
