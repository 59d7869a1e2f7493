//! Makes untrusted text, such as a model's, safe to print.

pub(crate) use toolwright::printable::{line, lines};

/// Indents each line of a text.
pub(crate) fn block(text: &str) -> String {
    lines(text).lines().map(|line| format!("  {line}\n")).collect()
}

/// Cuts a text to the given number of characters, on one line.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let text = line(text);
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_moved_to_the_right_and_cannot_act_on_a_terminal() {
        assert_eq!(block("a\nb\u{7}"), "  a\n  b\\u{7}\n");
    }

    #[test]
    fn a_long_text_ends_with_a_mark_that_there_is_more() {
        assert_eq!(shorten("abcde", 5), "abcde");
        assert_eq!(shorten("abcdef", 5), "abcd…");
    }
}
