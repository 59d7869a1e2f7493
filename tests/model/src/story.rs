//! Follows one path through a scenario, and prints its decisions, one JSON line each.

use toolwright_executor::lifecycle::trace::TracedDecision;
use toolwright_journal::journal::State;

use crate::scenario::{Outcome, Scenario, Verdict};
use crate::step::Action;
use crate::system::System;

/// No story has more steps.
const STEPS: usize = 100;

/// Returns the decisions on a path, with the guards of the scenario.
#[must_use]
pub fn decisions(scenario: &Scenario, way: &[Action]) -> Vec<TracedDecision> {
    let mut system = System::new(scenario);
    let mut decided = Vec::new();
    for action in way {
        let Some((next, more)) = scenario.traced(&system, *action) else { break };
        decided.extend(more);
        system = next;
    }
    decided
}

/// Finds a path on which bodies end and people decide as given, in turn, and nothing else goes wrong.
#[must_use]
pub fn way(scenario: &Scenario, outcomes: &[Outcome], verdicts: &[Verdict]) -> Vec<Action> {
    let mut system = System::new(scenario);
    let (mut outcomes, mut verdicts) = (outcomes.iter(), verdicts.iter());
    let mut way = Vec::new();
    while way.len() < STEPS {
        let mut actions = Vec::new();
        scenario.process_actions(&system, &mut actions);
        let is_end = |action: &Action| matches!(action, Action::End(..));
        let next = actions.iter().find(|action| !is_end(action)).copied();
        let next = match (next, actions.iter().find(|action| is_end(action))) {
            (None, Some(Action::End(worker, _))) => {
                outcomes.next().map(|outcome| Action::End(*worker, *outcome))
            }
            (Some(next), _) => Some(next),
            _ => verdicts.next().map(|verdict| Action::Say(0, *verdict)),
        };
        let Some(next) = next else { break };
        let Some(after) = scenario.after(&system, next) else { break };
        way.push(next);
        system = after;
    }
    way
}

/// The story of a call that needs approval, is edited, fails twice, becomes a dead letter, is requeued and succeeds.
#[must_use]
pub fn edited_and_requeued() -> (Vec<Action>, Vec<TracedDecision>, Option<State>) {
    let scenario = crate::scenarios::story();
    let outcomes = [Outcome::Transient, Outcome::Transient, Outcome::Result];
    let verdicts = [Verdict::Edit, Verdict::Requeue, Verdict::Approve];
    let way = way(&scenario, &outcomes, &verdicts);
    let decisions = decisions(&scenario, &way);
    let mut system = System::new(&scenario);
    for action in &way {
        system = scenario.after(&system, *action).unwrap_or(system);
    }
    let state = system.journal.calls().next().map(|record| record.state);
    (way, decisions, state)
}
