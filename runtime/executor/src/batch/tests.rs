//! The plan of a turn is held to the definition of conflict.

use std::collections::BTreeSet;

use proptest::prelude::*;
use toolwright_core::footprint::{File, Footprint, ResourceKind, ResourceScope};

use super::Batch;

/// Tickets: their names do not say what contains them.
struct Ticket;

impl ResourceKind for Ticket {
    const LABEL: &'static str = "ticket";

    fn overlap(container: &str, contained: &str) -> bool {
        container == "all" || contained == "all"
    }
}

/// The calls of a turn that have begun, those that have ended, and their plan.
struct Turn<'a> {
    footprints: &'a [Option<Footprint>],
    batch: Batch,
    begun: BTreeSet<usize>,
    ended: BTreeSet<usize>,
}

impl<'a> Turn<'a> {
    fn of(footprints: &'a [Option<Footprint>]) -> Self {
        let mut turn = Self {
            footprints,
            batch: Batch::default(),
            begun: BTreeSet::new(),
            ended: BTreeSet::new(),
        };
        for (index, footprint) in footprints.iter().enumerate() {
            if turn.batch.push(footprint.as_ref()) {
                turn.begun.insert(index);
            }
        }
        turn
    }

    fn running(&self) -> Vec<usize> {
        self.begun.difference(&self.ended).copied().collect()
    }

    fn end(&mut self, call: usize) {
        self.ended.insert(call);
        for next in self.batch.end(call) {
            assert!(self.begun.insert(next), "call {next} began twice");
        }
    }

    fn conflict(&self, one: usize, two: usize) -> bool {
        match (&self.footprints[one], &self.footprints[two]) {
            (Some(one), Some(two)) => one.conflicts_with(two),
            _ => false,
        }
    }

    /// Begun are exactly the calls all of whose earlier conflicting calls have ended.
    fn check(&self) {
        for call in 0..self.footprints.len() {
            let may_begin = (0..call)
                .all(|earlier| self.ended.contains(&earlier) || !self.conflict(earlier, call));
            assert_eq!(
                self.begun.contains(&call),
                may_begin,
                "call {call}, ended {:?}",
                self.ended
            );
        }
    }
}

fn scopes() -> [ResourceScope; 2] {
    ["one", "two"].map(ResourceScope::new)
}

const NAMES: [&str; 9] = ["a", "./a", "a/b", "a/b/c", "ab", ".", "/a", "../a", "d//e/../f"];

fn access(footprint: Footprint, (is_write, kind, name): (bool, usize, usize)) -> Footprint {
    let name = NAMES[name % NAMES.len()];
    let ticket = ["1", "2", "all"][name.len() % 3];
    match (is_write, kind) {
        (false, 0..=5) => footprint.reading::<File>(name),
        (true, 0..=5) => footprint.writing::<File>(name),
        (false, 6) => footprint.reading::<File>(None),
        (true, 6) => footprint.writing::<File>(None),
        (false, _) => footprint.reading::<Ticket>(ticket),
        (true, _) => footprint.writing::<Ticket>(ticket),
    }
}

fn footprint() -> impl Strategy<Value = Option<Footprint>> {
    let accesses = prop::collection::vec((any::<bool>(), 0..8_usize, 0..NAMES.len()), 0..4);
    let named = (accesses, 0..3_usize).prop_map(|(accesses, scope)| {
        let named = accesses.into_iter().fold(Footprint::nothing(), access);
        Some(match scopes().get(scope) {
            Some(scope) => named.in_scope(scope),
            None => named,
        })
    });
    prop_oneof![8 => named, 1 => Just(None), 1 => any::<bool>().prop_map(|is_read| Some(of_everything(is_read)))]
}

fn of_everything(is_read: bool) -> Footprint {
    let mut facts =
        toolwright_core::footprint::Facts::new(toolwright_core::tool::Danger::Safe, None);
    facts.ask_for_footprint(match is_read {
        true => toolwright_core::tool::Effect::Read,
        false => toolwright_core::tool::Effect::Once,
    });
    facts.touches().unwrap().clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn a_call_begins_exactly_when_all_that_it_conflicts_with_has_ended(
        footprints in prop::collection::vec(footprint(), 0..14),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 14),
    ) {
        let mut turn = Turn::of(&footprints);
        turn.check();
        for pick in picks {
            let running = turn.running();
            if running.is_empty() { break }
            turn.end(*pick.get(&running));
            turn.check();
        }
        prop_assert_eq!(turn.ended.len(), footprints.len(), "no call waits for ever");
    }

    #[test]
    fn a_call_that_arrives_while_others_run_waits_for_those_alone_that_have_not_ended(
        steps in prop::collection::vec((footprint(), any::<prop::sample::Index>(), any::<bool>()), 0..14),
    ) {
        let footprints: Vec<_> = steps.iter().map(|(footprint, ..)| footprint.clone()).collect();
        let (batch, begun, ended) = Default::default();
        let mut turn = Turn { footprints: &footprints, batch, begun, ended };
        for (index, (footprint, pick, ends)) in steps.iter().enumerate() {
            if turn.batch.push(footprint.as_ref()) {
                turn.begun.insert(index);
            }
            let so_far = Turn { footprints: &footprints[..=index], ..turn };
            so_far.check();
            turn = Turn { footprints: &footprints, ..so_far };
            let running = turn.running();
            if *ends && !running.is_empty() {
                turn.end(*pick.get(&running));
            }
        }
    }
}

/// Every turn of four calls that touch two files and their folder, in every order in which its calls can end. A begun call
/// holds a lock on what it touches, as a stage may, from its beginning to its end: it gets each lock at once, because no
/// begun call conflicts with it and a call that waits holds nothing. So nothing waits in a circle.
#[test]
fn no_small_turn_comes_to_a_stop_whatever_its_calls_hold_while_they_run() {
    let kinds: Vec<Option<Footprint>> = ["a/x", "a/y", "a"]
        .into_iter()
        .flat_map(|name| {
            [Footprint::nothing().reading::<File>(name), Footprint::nothing().writing::<File>(name)]
        })
        .chain([of_everything(true), of_everything(false)])
        .map(Some)
        .chain([None])
        .collect();
    let mut turns = 0;
    for number in 0..kinds.len().pow(4) {
        let calls: Vec<_> =
            (0..4).map(|at| kinds[number / kinds.len().pow(at) % kinds.len()].clone()).collect();
        let mut orders = vec![Vec::new()];
        while let Some(order) = orders.pop() {
            let mut turn = Turn::of(&calls);
            order.iter().for_each(|call| turn.end(*call));
            let running = turn.running();
            assert!(
                !running.is_empty() || turn.ended.len() == 4,
                "turn {number} stops after {order:?}"
            );
            for (at, one) in running.iter().enumerate() {
                for two in &running[at + 1..] {
                    assert!(!turn.conflict(*one, *two), "calls {one} and {two} hold one lock");
                }
            }
            orders.extend(running.into_iter().map(|next| [&order[..], &[next]].concat()));
        }
        turns += 1;
    }
    assert_eq!(turns, 9_usize.pow(4));
}

/// A plan of ten thousand calls looks each name up; it does not compare pairs of calls.
#[test]
fn a_turn_of_ten_thousand_calls_has_as_many_waits_as_names() {
    let write = |name: &str| Some(Footprint::nothing().writing::<File>(name));
    let one_file = vec![write("src/a.rs"); 10_000];
    let files: Vec<_> = (0..10_000).map(|at| write(&format!("src/{}/{at}.rs", at % 100))).collect();
    let mixed: Vec<_> = (0..10_000)
        .map(|at| match at % 2 {
            0 => write(&format!("src/{at}.rs")),
            _ => Some(of_everything(true)),
        })
        .collect();
    for (footprints, at_once) in [(one_file, 1), (files, 10_000), (mixed, 1)] {
        let mut turn = Turn::of(&footprints);
        assert_eq!(turn.begun.len(), at_once);
        assert!(turn.batch.waits() <= 60_000, "{} waits", turn.batch.waits());
        let (mut running, mut ended) = (turn.running(), 0);
        while let Some(call) = running.pop() {
            ended += 1;
            running.extend(turn.batch.end(call));
        }
        assert_eq!(ended, 10_000);
    }
}

/// Where something runs: what its other resources are depends on it.
struct Place;

impl ResourceKind for Place {
    const LABEL: &'static str = "place";
    const DECIDES: bool = true;
}

#[test]
fn what_a_call_touches_is_unknown_as_long_as_an_earlier_one_may_change_where_it_runs() {
    let moves = || Footprint::nothing().reading::<Place>("r").writing::<Place>("r");
    let reads = |file| Footprint::nothing().reading::<Place>("r").reading::<File>(file);
    let writes = |file| Footprint::nothing().writing::<File>(file);
    let mut batch = Batch::default();
    assert!(batch.push(Some(&reads("a"))), "nothing moves before it");
    assert!(!batch.push(Some(&moves())), "the line before it runs where it runs");
    // The file that it reads has another name once the place has changed.
    assert!(!batch.push(Some(&reads("a"))));
    assert!(
        !batch.push(Some(&reads("b"))),
        "the one before it is alone, and the place is still open"
    );
    assert!(!batch.push(Some(&writes("sub/b"))), "what the one before it reads is not known");
    assert_eq!(batch.end(0), [1]);
    assert_eq!(batch.end(1), [2]);
    assert_eq!(batch.end(2), [3]);
    assert_eq!(batch.end(3), [4]);
    let other = Footprint::nothing().reading::<Place>("s").reading::<File>("c");
    let mut batch = Batch::default();
    assert!(batch.push(Some(&moves())));
    assert!(batch.push(Some(&other)), "another run is elsewhere");
    assert!(batch.push(Some(&writes("d"))));
}
