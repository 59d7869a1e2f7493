//! What becomes of a state when nothing goes wrong any more and everybody who can act takes a turn, but for people: they
//! say nothing more than they have said. A call that is then still on its way is stranded.
//!
//! A checker's `eventually` would be fooled by cycles and by paths that join; this looks from every state.

use toolwright::journal::State;

use crate::record::Record;
use crate::scenario::{Budget, Outcome, Scenario};
use crate::system::{Action, System};

/// More steps than any scenario needs.
const STEPS: usize = 200;

/// Whether no call is stranded in this state.
#[must_use]
pub fn gets_everywhere(scenario: &Scenario, system: &System) -> bool {
    let mut now = System { budget: Budget::default(), ..*system };
    for _ in 0..STEPS {
        match step(scenario, &now) {
            Some(next) => now = next,
            None => return now.store.all().all(|(_, record)| is_settled(scenario, &record)),
        }
    }
    false
}

fn is_settled(scenario: &Scenario, record: &Record) -> bool {
    match record.state {
        State::Judging | State::Ready | State::Running => {
            // What is beyond the boundary is not explored.
            record.generation > scenario.generations
        }
        // Nobody who has decided is asked again.
        State::Pending => record.decision.is_none() && !record.is_late,
        _ => true,
    }
}

/// The first thing that somebody can do.
fn step(scenario: &Scenario, system: &System) -> Option<System> {
    let mut actions = Vec::new();
    scenario.worker_actions(system, &mut actions);
    scenario.other_actions(system, &mut actions);
    let lapses = system.store.all().filter(|(id, record)| {
        record.state == State::Running && !record.is_lapsed && !system.has_owner(*id)
    });
    actions.extend(lapses.map(|(id, _)| Action::Lapse(id)));
    let wanted = |action: &Action| match action {
        Action::End(_, outcome) => *outcome == Outcome::Result,
        _ => true,
    };
    actions.into_iter().filter(wanted).find_map(|action| scenario.after(system, action))
}
