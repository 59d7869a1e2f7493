//! Orders calls as a tree: each call comes after the call that made it.

use std::collections::{HashMap, HashSet};

use toolwright::CallId;
use toolwright::journal::CallRecord;

use crate::operator::filter::Row;

/// Puts every call below its parent, in the order in which the parent made its calls, and returns each with its depth.
/// A call whose parent is not in the list, and a row that cannot be read, keep their places. Calls of a damaged journal
/// that are their own ancestors come last.
pub(crate) fn in_families(rows: &[Row]) -> Vec<(usize, &Row)> {
    let known: HashSet<CallId> =
        rows.iter().filter_map(|row| Some(row.as_ref().ok()?.id)).collect();
    let parent = |row: &Row| {
        let parent = row.as_ref().ok()?.parent?;
        known.contains(&parent.call).then_some(parent)
    };
    let mut children: HashMap<CallId, Vec<(u32, &Row)>> = HashMap::new();
    for row in rows {
        if let Some(parent) = parent(row) {
            children.entry(parent.call).or_default().push((parent.index, row));
        }
    }
    children.values_mut().for_each(|rows| rows.sort_by_key(|(index, _)| *index));
    let mut open: Vec<(usize, &Row)> =
        rows.iter().rev().filter(|row| parent(row).is_none()).map(|row| (0, row)).collect();
    let mut ordered = Vec::with_capacity(rows.len());
    let mut listed = HashSet::new();
    let mut left = rows.iter();
    loop {
        while let Some((depth, row)) = open.pop() {
            let id = row.as_ref().ok().map(|call: &CallRecord| call.id);
            if id.is_none_or(|id| listed.insert(id)) {
                ordered.push((depth, row));
            }
            let below = id.and_then(|id| children.remove(&id));
            open.extend(below.into_iter().flatten().rev().map(|(_, row)| (depth + 1, row)));
        }
        let is_left = |row: &&Row| row.as_ref().is_ok_and(|call| !listed.contains(&call.id));
        let Some(row) = left.find(is_left) else { return ordered };
        open.push((0, row));
    }
}

#[cfg(test)]
mod tests {
    use toolwright::journal::{CallSlot, ParentCall};

    use super::*;

    fn id(number: u8) -> CallId {
        CallId::from_bytes([number; 16])
    }

    fn call(number: u8, parent: Option<(u8, u32)>) -> Row {
        let slot = CallSlot { run: "r".to_owned(), turn: None, index: 0 };
        let draft = CallRecord::draft(id(number), slot, "any", jiff::Timestamp::UNIX_EPOCH);
        let parent = parent.map(|(call, index)| ParentCall { call: id(call), index });
        Ok(draft.with(|it| it.parent = parent))
    }

    #[test]
    fn calls_that_are_their_own_ancestors_are_listed_once() {
        let rows =
            [call(1, Some((1, 0))), call(2, None), call(3, Some((4, 0))), call(4, Some((3, 0)))];
        let ordered: Vec<(usize, CallId)> = in_families(&rows)
            .into_iter()
            .filter_map(|(depth, row)| Some((depth, row.as_ref().ok()?.id)))
            .collect();
        let expected = [(0, 2), (0, 1), (0, 3), (1, 4)];
        assert_eq!(ordered, expected.map(|(depth, number)| (depth, id(number))));
    }

    #[test]
    fn children_stand_below_their_parents_in_the_order_of_their_making() {
        let rows = [
            call(1, None),
            call(2, None),
            call(3, Some((1, 1))),
            call(4, Some((1, 0))),
            call(5, Some((3, 0))),
            call(6, Some((9, 0))),
        ];
        let ordered: Vec<(usize, CallId)> = in_families(&rows)
            .into_iter()
            .filter_map(|(depth, row)| Some((depth, row.as_ref().ok()?.id)))
            .collect();
        let expected = [(0, 1), (1, 4), (1, 3), (2, 5), (0, 2), (0, 6)];
        assert_eq!(ordered, expected.map(|(depth, number)| (depth, id(number))));
    }
}
