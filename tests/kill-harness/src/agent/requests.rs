//! Bounds how often the model may be asked for the answers of one run. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::model::Asked;

/// The facts that bound the number of requests of a run.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// The first turn that the model was asked for.
    pub first: u64,
    /// How many answers of the model the run's history has.
    pub turns: u64,
    /// Whether the run may have ended while the model was asked for one more answer.
    pub is_cut_off: bool,
    /// How many processes of the journal were killed.
    pub kills: u64,
    /// Whether each process ended before the next began.
    pub is_alone: bool,
}

impl Bound {
    /// Returns what is wrong with the requests of a run, given in the order in which they were made.
    pub fn broken_by(self, requests: &[&Asked]) -> Option<String> {
        let Self { first, turns, is_cut_off, kills, is_alone } = self;
        let mut by_turn: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
        // For each process, the last turn that it asked for again.
        let mut again: HashMap<u32, u64> = HashMap::new();
        let mut times = 0;
        for Asked { life, turn, counted, .. } in requests {
            if let Some(counted) = counted.filter(|counted| counted != turn) {
                return Some(format!("its plugin has counted {counted} turns in turn {turn}"));
            }
            let lives = by_turn.entry(*turn).or_default();
            times += u64::from(!lives.is_empty());
            if !is_alone {
                lives.insert(*life);
                continue;
            }
            if lives.contains(life) {
                return Some(format!("process {life} asked twice for turn {turn}"));
            }
            if !lives.is_empty()
                && let Some(other) = again.insert(*life, *turn)
            {
                return Some(format!(
                    "process {life} asked again for the turns {other} and {turn}, expected at most one"
                ));
            }
            lives.insert(*life);
        }
        let mut asked: Vec<u64> = by_turn.into_keys().collect();
        if times > kills {
            return Some(format!("{times} requests were made again, expected at most {kills}"));
        }
        if is_cut_off && asked.last() == Some(&(turns + 1)) {
            asked.pop();
        }
        let expected: Vec<u64> = (first..=turns).collect();
        (asked != expected).then(|| format!("the turns {asked:?} were asked for, not {expected:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, Bound};

    fn broken(bound: Bound, requests: &[(u32, u64)]) -> Option<String> {
        let requests: Vec<Asked> = requests
            .iter()
            .map(|(life, turn)| {
                let (run, counted) = ("run-1".to_owned(), Some(*turn));
                Asked { life: *life, run, turn: *turn, counted }
            })
            .collect();
        bound.broken_by(&requests.iter().collect::<Vec<_>>())
    }

    const ALONE: Bound = Bound { first: 1, turns: 3, is_cut_off: false, kills: 2, is_alone: true };

    #[test]
    fn a_run_asks_again_once_for_each_process_that_was_killed() {
        assert_eq!(broken(ALONE, &[(1, 1), (1, 2), (2, 2), (2, 3)]), None);
        assert_eq!(broken(ALONE, &[(1, 1), (2, 1), (3, 1), (3, 2), (3, 3)]), None);
    }

    #[test]
    fn a_process_that_asks_twice_for_a_turn_is_found() {
        let found = broken(ALONE, &[(1, 1), (1, 2), (1, 2), (1, 3)]);
        assert_eq!(found.unwrap(), "process 1 asked twice for turn 2");
    }

    #[test]
    fn a_process_that_asks_again_for_two_turns_is_found() {
        let found = broken(ALONE, &[(1, 1), (1, 2), (2, 1), (2, 2), (2, 3)]);
        let expected = "process 2 asked again for the turns 1 and 2, expected at most one";
        assert_eq!(found.unwrap(), expected);
    }

    #[test]
    fn a_plugin_that_has_lost_its_count_is_found() {
        let asked = Asked { life: 1, run: "run-1".to_owned(), turn: 2, counted: Some(1) };
        let found = ALONE.broken_by(&[&asked]);
        assert_eq!(found.unwrap(), "its plugin has counted 1 turns in turn 2");
    }

    #[test]
    fn more_requests_than_kills_and_turns_without_one_are_found() {
        let beside = Bound { is_alone: false, ..ALONE };
        let found = broken(beside, &[(1, 1), (1, 1), (2, 1), (2, 1), (2, 2), (2, 3)]);
        assert_eq!(found.unwrap(), "3 requests were made again, expected at most 2");
        let found = broken(ALONE, &[(1, 1), (1, 3)]);
        assert_eq!(found.unwrap(), "the turns [1, 3] were asked for, not [1, 2, 3]");
    }

    #[test]
    fn the_last_request_of_a_run_that_was_cancelled_may_have_no_answer_in_it() {
        let requests = [(1, 1), (1, 2), (1, 3), (1, 4)];
        assert!(broken(ALONE, &requests).is_some());
        assert_eq!(broken(Bound { is_cut_off: true, ..ALONE }, &requests), None);
    }
}
