//! Text of others, such as a model's, so that it cannot act on a terminal or pass for something else.
//!
//! Control characters are written as escapes, and so are characters that nobody sees and those that turn the
//! direction of writing, by which a text can look like another.

/// Text on one line.
pub(crate) fn line(text: &str) -> String {
    escaped(text, false)
}

/// Text that may have lines.
pub(crate) fn lines(text: &str) -> String {
    escaped(text, true)
}

/// Text that may have lines, each of them moved to the right.
pub(crate) fn block(text: &str) -> String {
    lines(text).lines().map(|line| format!("  {line}\n")).collect()
}

/// At most so many characters of a text, on one line.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let text = line(text);
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => text,
    }
}

fn escaped(text: &str, keeps_lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if (letter == '\n' && keeps_lines) || !is_escaped(letter) {
            out.push(letter);
        } else {
            out.extend(letter.escape_default());
        }
    }
    out
}

/// The same that a request for an approval escapes.
fn is_escaped(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
            | '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_act_on_a_terminal_or_look_like_another() {
        assert_eq!(line("a\u{1b}[2Jb\r\n\u{9b}"), "a\\u{1b}[2Jb\\r\\n\\u{9b}");
        assert_eq!(line("\u{202e}txt.exe"), "\\u{202e}txt.exe");
        assert_eq!(line("Grüße 你好"), "Grüße 你好");
        assert_eq!(block("a\nb\u{7}"), "  a\n  b\\u{7}\n");
    }

    #[test]
    fn a_long_text_ends_with_a_mark_that_there_is_more() {
        assert_eq!(shortened("abcde", 5), "abcde");
        assert_eq!(shortened("abcdef", 5), "abcd…");
    }
}
