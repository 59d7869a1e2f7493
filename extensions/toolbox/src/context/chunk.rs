//! Splits a text into the parts that a search finds. Consecutive parts overlap, so that a short sentence at a boundary
//! is usually complete in one of them. Pure.

use std::ops::Range;

/// The largest size of a part in bytes: a few paragraphs.
const LARGEST: usize = 2000;

/// The most bytes from the end of a part that the next part repeats.
const OVERLAP: usize = 200;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) bytes: Range<usize>,
    /// The line number of the part's first line, counted from 1.
    pub(super) first_line: usize,
}

/// Splits a text into its parts, in order and without blank ones.
pub(super) fn chunks(text: &str) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let (mut start, mut line) = (0, 1);
    while start < text.len() {
        let end = end_of(text, start);
        if !text[start..end].trim().is_empty() {
            chunks.push(Chunk { bytes: start..end, first_line: line });
        }
        let next = if end == text.len() { end } else { start_of_next(text, start, end) };
        line += text[start..next].matches('\n').count();
        start = next;
    }
    chunks
}

/// Returns the end of a part: after the last line end in its second half, or else after the last space there, or else
/// at the largest size.
fn end_of(text: &str, start: usize) -> usize {
    if text.len() - start <= LARGEST {
        return text.len();
    }
    let most = text.floor_char_boundary(start + LARGEST);
    let part = &text[start..most];
    // An end in the first half would make very small parts of a text with long lines.
    let far_enough = |at: &usize| *at > part.len() / 2;
    let cut = part.rfind('\n').filter(far_enough).or_else(|| part.rfind(' ').filter(far_enough));
    cut.map_or(most, |at| start + at + 1)
}

/// Returns the beginning of the next part: the first line that begins in the overlap, or else the first word. If
/// neither exists, the next part does not overlap.
fn start_of_next(text: &str, start: usize, end: usize) -> usize {
    let first = text.ceil_char_boundary(end.saturating_sub(OVERLAP).max(start + 1));
    let overlap = &text[first..end];
    let inner = |at: usize| (at + 1 < overlap.len()).then_some(first + at + 1);
    overlap.find('\n').and_then(inner).or_else(|| overlap.find(' ').and_then(inner)).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_byte_is_in_a_part_and_each_part_says_its_line(
            pieces in prop::collection::vec("[a-zé ]{0,300}\n?|[a-z]{2500}|\n{1,5}", 0..30)
        ) {
            let text = pieces.concat();
            let chunks = chunks(&text);
            let mut covered = 0;
            for Chunk { bytes, first_line } in &chunks {
                prop_assert!(text.get(covered..bytes.start).is_none_or(|gap| gap.trim().is_empty()));
                prop_assert!(bytes.len() <= LARGEST && bytes.end > covered);
                prop_assert!(covered.saturating_sub(bytes.start) <= OVERLAP);
                prop_assert_eq!(*first_line, text[..bytes.start].matches('\n').count() + 1);
                covered = bytes.end;
            }
            prop_assert!(text[covered..].trim().is_empty());
        }
    }

    #[test]
    fn a_part_ends_with_a_line_and_the_next_begins_with_one() {
        let text = "a line of thirty characters, x\n".repeat(100);
        let found = chunks(&text);
        assert!(found.len() > 1);
        for chunk in found {
            let part = &text[chunk.bytes];
            assert!(part.starts_with("a line") && part.ends_with('\n'), "{part}");
        }
    }
}
