//! Checks from a state that every call comes to rest, if nothing goes wrong any more and every actor except people
//! takes turns. A call that is still on its way at the end is stranded.
//!
//! The checker's own `eventually` misses cycles and joining paths, so this starts from every state.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright_journal::journal::{CallRecord, State};

use crate::scenario::{Budget, Outcome, Scenario};
use crate::step::Action;
use crate::system::System;

/// No scenario needs more steps.
const STEPS: usize = 200;

/// The states from which no call is stranded, as checked before.
#[derive(Debug, Clone, Default)]
pub struct Settled(Arc<Mutex<HashSet<u64>>>);

impl Settled {
    /// Returns whether no call is stranded in this state.
    #[must_use]
    pub fn gets_everywhere(&self, scenario: &Scenario, system: &System) -> bool {
        let mut now = System { budget: Budget::default(), ..system.clone() };
        let mut seen = Vec::new();
        for _ in 0..STEPS {
            let digest = now.digest();
            if self.known().contains(&digest) {
                self.known().extend(seen);
                return true;
            }
            seen.push(digest);
            match step(scenario, &now) {
                Some(next) => now = next,
                None => {
                    let mut calls = now.journal.calls();
                    let is_settled = calls.all(|record| is_settled(scenario, &now, record));
                    if is_settled {
                        self.known().extend(seen);
                    }
                    return is_settled;
                }
            }
        }
        false
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_settled(scenario: &Scenario, system: &System, record: &CallRecord) -> bool {
    match record.state {
        State::Judging | State::Ready | State::Running => {
            // Later generations are not explored.
            record.generation > scenario.generations.into()
        }
        State::Pending => !system.is_late(record),
        State::HandedOver => !system.is_overdue(record),
        _ => true,
    }
}

/// Takes the first possible step.
fn step(scenario: &Scenario, system: &System) -> Option<System> {
    let mut actions = Vec::new();
    scenario.process_actions(system, &mut actions);
    scenario.lapses(system, &mut actions);
    let wanted = |action: &Action| match action {
        Action::End(_, outcome) => *outcome == Outcome::Result,
        // The submit would be refused and not recorded, each time.
        Action::Submit(..) => !system.run_is_ended() && system.rejected.is_empty(),
        _ => true,
    };
    actions.into_iter().filter(wanted).find_map(|action| scenario.after(system, action))
}
