//! The pages of a text.

use super::text::split_at_character;

/// The characters of a page.
pub(super) const PAGE: usize = 8_000;

/// How many pages a text of so many characters has: one at least.
pub(super) fn pages(characters: usize) -> usize {
    characters.div_ceil(PAGE).max(1)
}

/// A page of a text, counted from one; nothing where there is no such page.
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
