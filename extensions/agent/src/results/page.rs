//! Splits a text into pages.

use super::text::split_at_character;

/// The number of characters of a page.
pub(super) const PAGE: usize = 8_000;

/// Returns how many pages a text with this many characters has: at least one.
pub(super) fn pages(characters: usize) -> usize {
    characters.div_ceil(PAGE).max(1)
}

/// Returns a page of a text, counted from one; `None` if there is no such page.
pub(super) fn page(text: &str, number: usize) -> Option<&str> {
    let skipped = number.checked_sub(1)?.checked_mul(PAGE)?;
    let (_, rest) = split_at_character(text, skipped);
    let (page, _) = split_at_character(rest, PAGE);
    (number == 1 || !page.is_empty()).then_some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_a_text_are_the_text() {
        for text in [String::new(), "a".repeat(PAGE), "ä\n".repeat(PAGE), "é".repeat(2 * PAGE + 1)]
        {
            let last = pages(text.chars().count());
            let all: String =
                (1..=last).map(|number| page(&text, number).expect("a page")).collect();
            assert_eq!(all, text);
            assert_eq!((page(&text, 0), page(&text, last + 1)), (None, None));
            assert!(
                (1..last)
                    .all(|number| page(&text, number).expect("a page").chars().count() == PAGE)
            );
        }
    }
}
