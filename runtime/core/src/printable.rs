//! Text of others, such as a model's or a file's, so that it cannot act on a terminal or pass for something else.

/// The text on one line: each character that [acts](acts) is written as an escape, line breaks among them.
///
/// ```
/// use toolwright::printable;
///
/// assert_eq!(printable::line("rm\u{1b}[2K notes\n"), r"rm\u{1b}[2K notes\n");
/// assert_eq!(printable::line("\u{202e}txt.exe"), r"\u{202e}txt.exe");
/// ```
#[must_use]
pub fn line(text: &str) -> String {
    escaped(text, false)
}

/// As [`line`] does, but line breaks stay.
///
/// ```
/// assert_eq!(toolwright::printable::lines("one\r\ntwo"), "one\\r\ntwo");
/// ```
#[must_use]
pub fn lines(text: &str) -> String {
    escaped(text, true)
}

/// Whether a terminal, a font or a reader's eye may take a character for something else than itself: controls, what turns the
/// direction of writing, what has no width or no ink, separators of lines, tags.
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
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
            | '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

fn escaped(text: &str, leaves_lines: bool) -> String {
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
}
