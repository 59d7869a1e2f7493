//! Makes untrusted text safe to display, such as the text of a model or a file. The result cannot control a terminal,
//! and has no invisible or reordered characters that make it look like other text.

use std::borrow::Cow;

/// Returns the text on one line: each character for which [`acts`] is true, including line breaks, becomes an escape
/// sequence.
///
/// ```
/// use toolwright::printable;
///
/// assert_eq!(printable::line("rm\u{1b}[2K notes\n"), r"rm\u{1b}[2K notes\n");
/// assert_eq!(printable::line("\u{202e}txt.exe"), r"\u{202e}txt.exe");
/// ```
#[must_use]
pub fn line(text: &str) -> String {
    escape(text, false)
}

/// Does the same as [`line`], but preserves line breaks.
///
/// ```
/// assert_eq!(toolwright::printable::lines("one\r\ntwo"), "one\\r\ntwo");
/// ```
#[must_use]
pub fn lines(text: &str) -> String {
    escape(text, true)
}

/// Returns equivalent JSON in which each character for which [`acts`] is true is escaped. White space between values
/// remains.
///
/// ```
/// use toolwright::printable;
///
/// assert_eq!(printable::json("{\"a\u{202e}\":\"\u{9b}2J\"}"), r#"{"a\u202e":"\u009b2J"}"#);
/// ```
#[must_use]
pub fn json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(|it| it != '\n' && acts(it)) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        // Outside of strings, these characters are white space between values. Inside of strings, JSON does not allow
        // them.
        if matches!(character, '\n' | '\r' | '\t') || !acts(character) {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(out)
}

/// Returns whether a character can control a terminal or make a text look like another text. These are control
/// characters, invisible characters, line separators, tags, every space but the usual one, and characters that change
/// the direction of writing or the form of their neighbours.
///
/// ```
/// use toolwright::printable::acts;
///
/// assert!(acts('\u{1b}') && acts('\u{202e}') && acts('\u{200b}') && acts('\n'));
/// assert!(!acts('ü') && !acts('好') && !acts(' '));
/// ```
#[must_use]
pub fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{1680}'
            | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}'
            | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{2d7f}' | '\u{3000}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}'
            | '\u{1107f}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{13455}' | '\u{16fe4}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{1da7f}'..='\u{1da80}' | '\u{e0000}'..='\u{e0fff}')
}

fn escape(text: &str, leaves_lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if (character == '\n' && leaves_lines) || !acts(character) {
            out.push(character);
        } else {
            out.extend(character.escape_default());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_act_on_a_terminal_or_look_like_another() {
        assert_eq!(line("a\u{1b}[2Jb\r\n\u{9b}c"), "a\\u{1b}[2Jb\\r\\n\\u{9b}c");
        assert_eq!(lines("a\u{1b}[2Jb\r\n\u{9b}c"), "a\\u{1b}[2Jb\\r\n\\u{9b}c");
        assert_eq!(lines("\u{202e}txt.exe"), "\\u{202e}txt.exe");
        assert_eq!(line("Grüße 你好"), "Grüße 你好");
    }

    #[test]
    fn json_says_the_same_with_its_characters_escaped() {
        let value = serde_json::json!({"\u{9b}": ["\u{202e}\u{e0041}", "a\u{7f}\n", "ü"]});
        let written = serde_json::to_string_pretty(&value).unwrap();
        let escaped = json(&written);
        assert!(!escaped.chars().any(|it| it != '\n' && acts(it)), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
        assert!(matches!(json(r#"{"a":"ü"}"#), Cow::Borrowed(_)));
    }
}
