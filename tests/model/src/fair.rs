//! What becomes of a state when nothing goes wrong any more and everybody who can act takes a turn, but for people: they
//! say nothing more than they have said. A call that is then still on its way is stranded.
//!
//! A checker's `eventually` would be fooled by cycles and by paths that join; this looks from every state.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright_journal::journal::{CallRecord, State};

use crate::scenario::{Budget, Outcome, Scenario};
use crate::step::Action;
use crate::system::System;

/// More steps than any scenario needs.
const STEPS: usize = 200;

/// States that were looked from before, and from which nothing is stranded.
#[derive(Debug, Clone, Default)]
pub struct Settled(Arc<Mutex<HashSet<u64>>>);

impl Settled {
    /// Whether no call is stranded in this state.
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
            // What is beyond the boundary is not explored.
            record.generation > scenario.generations.into()
        }
        State::Pending => !system.is_late(record),
        State::HandedOver => !system.is_overdue(record),
        _ => true,
    }
}

/// The first thing that somebody can do.
fn step(scenario: &Scenario, system: &System) -> Option<System> {
    let mut actions = Vec::new();
    scenario.process_actions(system, &mut actions);
    scenario.lapses(system, &mut actions);
    let wanted = |action: &Action| match action {
        Action::End(_, outcome) => *outcome == Outcome::Result,
        // It would be refused, and not recorded, as often as it is submitted.
        Action::Submit(..) => !system.run_is_ended() && system.rejected.is_empty(),
        _ => true,
    };
    actions.into_iter().filter(wanted).find_map(|action| scenario.after(system, action))
}
