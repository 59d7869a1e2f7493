//! Finds every occurrence of one sequence in another, in linear time; pure.

/// Returns where `wanted` begins in `text`, including overlapping occurrences: for `aa` in `aaa` it is not clear which one is
/// meant. An empty sequence never occurs. The algorithm is that of Knuth, Morris and Pratt, since the standard library does not
/// find overlapping occurrences.
pub(super) fn occurrences<T: PartialEq>(text: &[T], wanted: &[T]) -> impl Iterator<Item = usize> {
    // For each length of a match, the longest shorter match that is its suffix.
    let mut shorter = vec![0_usize; wanted.len()];
    let mut length = 0;
    for at in 1..wanted.len() {
        length = extend_match(wanted, &shorter, length, &wanted[at]);
        shorter[at] = length;
    }
    let mut length = 0;
    text.iter().enumerate().filter_map(move |(at, item)| {
        if wanted.is_empty() {
            return None;
        }
        if length == wanted.len() {
            length = shorter[length - 1];
        }
        length = extend_match(wanted, &shorter, length, item);
        (length == wanted.len()).then(|| at + 1 - length)
    })
}

/// Returns the length of the longest match that ends with this item, if a match of `length` items ends before it.
fn extend_match<T: PartialEq>(
    wanted: &[T],
    shorter: &[usize],
    mut length: usize,
    item: &T,
) -> usize {
    while length > 0 && wanted[length] != *item {
        length = shorter[length - 1];
    }
    length + usize::from(wanted[length] == *item)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::occurrences;

    proptest! {
        #[test]
        fn every_place_is_found(text in "[ab]{0,20}", wanted in "[ab]{0,4}") {
            let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
            let expected: Vec<usize> = (0..text.len())
                .filter(|at| !wanted.is_empty() && text[*at..].starts_with(wanted))
                .collect();
            prop_assert_eq!(occurrences(text, wanted).collect::<Vec<_>>(), expected);
        }
    }

    thread_local! {
        static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    struct Counted(u8);

    impl PartialEq for Counted {
        fn eq(&self, other: &Self) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }

    #[test]
    fn a_sequence_that_overlaps_itself_is_found_in_linear_time() {
        let equal = |length| -> Vec<Counted> { (0..length).map(|_| Counted(b'a')).collect() };
        let mut text = equal(100_000);
        text.push(Counted(b'b'));
        text.extend(equal(100_000));
        let wanted = equal(50_000);
        assert_eq!(occurrences(&text, &wanted).count(), 2 * 50_001);
        let compared = COMPARED.get();
        assert!(compared < 4 * (text.len() + wanted.len()), "{compared} pairs were compared");
    }
}
