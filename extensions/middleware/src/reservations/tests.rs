//! The table against its promise, in every state that two runs can reach with three holds, and at random beyond that.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::table::{HoldId, Table};
use toolwright::{File, Footprint, ResourceScope};

const STEP: Duration = Duration::from_secs(30);
const LIFETIME: Duration = Duration::from_secs(60);

/// Everything that matters of a hold: its run, its footprint, whether it is of a call, the steps that are left.
type Seen = (usize, usize, bool, u64);

#[derive(Debug, Clone, Copy)]
enum Act {
    ForCall { run: usize, footprint: usize },
    ForRun { run: usize, footprint: usize },
    Renew(usize),
    Release(usize),
    ReleaseAll(usize),
    Wait,
}

/// A table, and what it should contain by the plain definition.
#[derive(Clone)]
struct World {
    now: Duration,
    /// The acts that led here, to make the table again.
    acts: Vec<Act>,
}

struct Scene {
    runs: [Arc<str>; 2],
    footprints: Vec<Footprint>,
}

impl Scene {
    fn new() -> Self {
        let write = |name| Footprint::nothing().writing::<File>(name);
        let footprints = vec![
            Footprint::nothing().reading::<File>("src"),
            write("./src/a.rs"),
            write("docs/a.md"),
            Footprint::nothing().writing::<File>(None),
        ];
        Self { runs: ["ada", "bob"].map(Arc::from), footprints }
    }

    /// Carries out the acts, and checks each of them against the definition.
    fn play(&self, acts: &[Act]) -> (Vec<Seen>, Duration) {
        let (mut table, mut now) = (Table::new(LIFETIME), Duration::ZERO);
        // What ought to be held: the run, the footprint, the id of a call's hold, and until when.
        let mut holds: Vec<(usize, usize, Option<HoldId>, Duration)> = Vec::new();
        for act in acts {
            match *act {
                Act::ForCall { run, footprint } => {
                    let granted = self.is_free(&holds, run, footprint);
                    let reserved =
                        table.reserve_for_call(&self.runs[run], &self.footprints[footprint], now);
                    assert_eq!(reserved.is_ok(), granted, "{acts:?}");
                    match reserved {
                        Ok(id) => holds.push((run, footprint, Some(id), now + LIFETIME)),
                        Err(conflict) => {
                            assert_ne!(conflict.holder, self.runs[run]);
                            assert!(!conflict.left.is_zero() && conflict.left <= LIFETIME);
                        }
                    }
                }
                Act::ForRun { run, footprint } => {
                    let granted = self.is_free(&holds, run, footprint);
                    let reserved =
                        table.reserve_for_run(&self.runs[run], &self.footprints[footprint], now);
                    assert_eq!(reserved.is_ok(), granted, "{acts:?}");
                    if granted {
                        holds.retain(|it| (it.0, it.1, it.2) != (run, footprint, None));
                        holds.push((run, footprint, None, now + LIFETIME));
                    }
                }
                Act::Renew(index) => {
                    if let Some((.., Some(id), until)) = holds.get_mut(index) {
                        assert!(table.renew(*id, now), "{acts:?}");
                        *until = now + LIFETIME;
                    }
                }
                Act::Release(index) => {
                    if let Some((.., Some(id), _)) = holds.get(index).copied() {
                        table.release(id);
                        holds.remove(index);
                        assert!(!table.renew(id, now), "it is held after its release: {acts:?}");
                    }
                }
                Act::ReleaseAll(run) => {
                    table.release_all(&self.runs[run]);
                    holds.retain(|it| it.0 != run || it.2.is_some());
                }
                Act::Wait => {
                    now += STEP;
                    holds.retain(|it| it.3 > now);
                }
            }
            self.agree(&mut table, &holds, now, acts);
        }
        let left = |until: Duration| (until - now).as_secs() / STEP.as_secs();
        let mut seen: Vec<Seen> =
            holds.iter().map(|it| (it.0, it.1, it.2.is_some(), left(it.3))).collect();
        seen.sort_unstable();
        (seen, now)
    }

    fn is_free(
        &self,
        holds: &[(usize, usize, Option<HoldId>, Duration)],
        run: usize,
        footprint: usize,
    ) -> bool {
        let wanted = &self.footprints[footprint];
        let others = holds.iter().filter(|it| it.0 != run);
        others.into_iter().all(|it| !self.footprints[it.1].conflicts_with(wanted))
    }

    fn agree(
        &self,
        table: &mut Table,
        holds: &[(usize, usize, Option<HoldId>, Duration)],
        now: Duration,
        acts: &[Act],
    ) {
        let held: Vec<_> = table
            .list_held(now)
            .map(|it| (it.run.to_owned(), it.footprint.clone(), it.left))
            .collect();
        assert_eq!(held.len(), holds.len(), "{acts:?}");
        for (run, footprint, left) in &held {
            assert!(!left.is_zero(), "{acts:?}");
            for (other, theirs, _) in &held {
                let conflict = run != other && footprint.conflicts_with(theirs);
                assert!(!conflict, "{run} and {other} hold one resource: {acts:?}");
            }
        }
    }
}

fn acts(holds: usize) -> Vec<Act> {
    let mut acts = vec![Act::Wait];
    for run in 0..2 {
        acts.push(Act::ReleaseAll(run));
        for footprint in 0..4 {
            acts.push(Act::ForCall { run, footprint });
            acts.push(Act::ForRun { run, footprint });
        }
    }
    acts.extend((0..holds).flat_map(|index| [Act::Renew(index), Act::Release(index)]));
    acts
}

#[test]
fn in_every_state_of_three_holds_no_two_runs_hold_one_resource() {
    let scene = Scene::new();
    let mut seen: HashSet<Vec<Seen>> = HashSet::from([Vec::new()]);
    let mut queue = VecDeque::from([World { now: Duration::ZERO, acts: Vec::new() }]);
    let mut steps = 0;
    while let Some(world) = queue.pop_front() {
        for act in acts(3) {
            let acts: Vec<Act> = world.acts.iter().copied().chain([act]).collect();
            let (state, now) = scene.play(&acts);
            assert!(now >= world.now);
            steps += 1;
            if state.len() <= 3 && seen.insert(state) {
                queue.push_back(World { now, acts });
            }
        }
    }
    assert!(seen.len() > 300 && steps > 5_000, "{} states, {steps} steps", seen.len());
}

#[test]
fn a_hold_ends_with_its_time_unless_it_is_renewed() {
    let scene = Scene::new();
    let [ada, bob] = &scene.runs;
    let write = &scene.footprints[1];
    let mut table = Table::new(LIFETIME);
    let id = table.reserve_for_call(ada, write, Duration::ZERO).unwrap();
    let refused = table.reserve_for_call(bob, write, STEP).unwrap_err();
    assert_eq!((&*refused.holder, refused.left), ("ada", LIFETIME - STEP));
    assert_eq!(refused.resource.unwrap().to_string(), "file `src/a.rs`");
    assert!(table.renew(id, STEP));
    assert!(table.reserve_for_call(bob, write, LIFETIME).is_err(), "it was renewed");
    assert!(table.reserve_for_call(bob, write, LIFETIME + STEP).is_ok());
    assert!(!table.renew(id, LIFETIME + STEP), "another run has it");
    let id = table.reserve_for_call(ada, &scene.footprints[2], Duration::ZERO).unwrap();
    assert!(!table.renew(id, LIFETIME), "nobody has looked since its time was up");
    assert!(table.list_held(LIFETIME + STEP).all(|it| it.run == "bob"));
}

/// The time until which a hold counts never moves by itself, whichever way the clock is set.
#[test]
fn a_clock_that_jumps_gives_nobody_two_holders() {
    let scene = Scene::new();
    let [ada, bob] = &scene.runs;
    let write = &scene.footprints[1];
    let mut table = Table::new(LIFETIME);
    table.reserve_for_call(ada, write, Duration::from_secs(1000)).unwrap();
    let refused = table.reserve_for_call(bob, write, Duration::ZERO).unwrap_err();
    assert_eq!(refused.left, Duration::from_secs(1060));
    assert!(table.reserve_for_call(bob, write, Duration::MAX).is_ok(), "a jump to the end");
    assert_eq!(table.list_held(Duration::MAX).count(), 0);
}

#[test]
fn files_of_two_workspaces_are_held_apart() {
    let scene = Scene::new();
    let [ada, bob] = &scene.runs;
    let write = |folder| {
        let write = Footprint::nothing().writing::<File>("a.rs");
        write.in_scope(&ResourceScope::new(folder))
    };
    let mut table = Table::new(LIFETIME);
    table.reserve_for_run(ada, &write("/one"), Duration::ZERO).unwrap();
    table.reserve_for_run(bob, &write("/two"), Duration::ZERO).unwrap();
    assert!(table.reserve_for_run(bob, &write("/one"), Duration::ZERO).is_err());
}

fn act() -> impl Strategy<Value = Act> {
    let pair = || (0..2usize, 0..4usize);
    prop_oneof![
        pair().prop_map(|(run, footprint)| Act::ForCall { run, footprint }),
        pair().prop_map(|(run, footprint)| Act::ForRun { run, footprint }),
        (0..6usize).prop_map(Act::Renew),
        (0..6usize).prop_map(Act::Release),
        (0..2usize).prop_map(Act::ReleaseAll),
        Just(Act::Wait),
    ]
}

proptest! {
    #[test]
    fn no_two_runs_hold_one_resource(acts in prop::collection::vec(act(), 0..40)) {
        Scene::new().play(&acts);
    }

    #[test]
    fn after_the_last_release_nothing_is_held(acts in prop::collection::vec(act(), 0..20)) {
        let ends = [Act::ReleaseAll(0), Act::ReleaseAll(1)].into_iter();
        let ends = ends.chain(std::iter::repeat_n(Act::Release(0), 20));
        let acts: Vec<Act> = acts.into_iter().chain(ends).collect();
        prop_assert_eq!(Scene::new().play(&acts).0, Vec::new());
    }
}
