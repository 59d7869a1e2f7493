//! Merges lists of matches by rank; pure.

use std::collections::HashMap;

/// The usual constant of reciprocal rank fusion. It dampens the first ranks, so that a single list does not determine
/// the result.
const DAMPING: f64 = 60.0;

/// Merges lists, each with the best match first, by reciprocal rank fusion: an item scores `1 / (60 + rank)` in each
/// list that contains it. Items with equal scores are in the order of their first appearance.
pub(super) fn merge_by_rank(lists: &[&[i64]]) -> Vec<i64> {
    let mut scores: HashMap<i64, f64> = HashMap::new();
    let mut merged = Vec::new();
    for list in lists {
        for (rank, item) in list.iter().enumerate() {
            let score = scores.entry(*item).or_insert_with(|| {
                merged.push(*item);
                0.0
            });
            *score += 1.0 / (DAMPING + rank as f64 + 1.0);
        }
    }
    // The sort is stable, so equal scores keep the order of their first appearance.
    merged.sort_by(|a, b| scores[b].total_cmp(&scores[a]));
    merged
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn ranked() -> impl Strategy<Value = Vec<i64>> {
        Just((0..20).collect::<Vec<i64>>())
            .prop_shuffle()
            .prop_flat_map(|all| (0..=all.len()).prop_map(move |most| all[..most].to_vec()))
    }

    proptest! {
        #[test]
        fn the_merged_list_has_each_item_once_and_the_one_that_both_lists_prefer_first(
            a in ranked(), b in ranked()
        ) {
            let merged = merge_by_rank(&[&a, &b]);
            let items: BTreeSet<i64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(merged.len(), items.len());
            prop_assert_eq!(merged.iter().copied().collect::<BTreeSet<_>>(), items);
            let rank = |list: &[i64], item| list.iter().position(|it| *it == item).unwrap_or(usize::MAX);
            for (place, first) in merged.iter().enumerate() {
                for second in &merged[place + 1..] {
                    let is_worse = |list: &[i64]| rank(list, *first) >= rank(list, *second);
                    let is_worse_in_one = rank(&a, *first) > rank(&a, *second) || rank(&b, *first) > rank(&b, *second);
                    prop_assert!(!(is_worse(&a) && is_worse(&b) && is_worse_in_one), "{first} before {second}");
                }
            }
        }

        #[test]
        fn a_list_alone_or_twice_keeps_its_order(list in ranked()) {
            prop_assert_eq!(&merge_by_rank(&[&list]), &list);
            prop_assert_eq!(&merge_by_rank(&[&list, &[]]), &list);
            prop_assert_eq!(&merge_by_rank(&[&list, &list]), &list);
        }
    }

    #[test]
    fn an_item_of_both_lists_comes_before_the_first_of_one() {
        assert_eq!(merge_by_rank(&[&[1, 2, 3], &[4, 2, 5]]), [2, 1, 4, 3, 5]);
    }
}
