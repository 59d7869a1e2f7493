//! Text of tools, models and files, so that it cannot act on a terminal or pass for something else.
//!
//! What a request for an approval and the command `toolwright` escape is escaped here too: control characters, those
//! without width or ink, and those that turn the direction of writing. Only line breaks stay.

/// Text that may have lines.
pub(super) fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character == '\n' || !acts(character) {
            out.push(character);
        } else {
            out.extend(character.escape_default());
        }
    }
    out
}

fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character,
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
        assert_eq!(lines("a\u{1b}[2Jb\r\n\u{9b}c"), "a\\u{1b}[2Jb\\r\n\\u{9b}c");
        assert_eq!(lines("\u{202e}txt.exe"), "\\u{202e}txt.exe");
        assert_eq!(lines("Grüße 你好"), "Grüße 你好");
    }
}
