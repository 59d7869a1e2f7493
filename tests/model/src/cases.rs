//! Cases: each check, the property that is violated without it, and a small scenario that shows it.

use toolwright_core::tool::Effect::{Idempotent, Once};
use toolwright_executor::lifecycle::Guard;

use crate::properties as property;
use crate::report::{Report, shortest};
use crate::scenario::{Budget, Call, Outcome, Policy, Scenario, Verdict};
use crate::scenarios::{EVERY_STAGE, FAIR, REWRITTEN, moved, one, rewritten, sealed};
use crate::switches::Switch;

/// A missing check.
#[derive(Debug, Clone)]
pub struct Case {
    /// The check.
    pub guard: Switch,
    /// The property that is violated.
    pub falls: &'static str,
    scenario: Scenario,
    /// More checks that are missing, because one of them is enough.
    also: Vec<Switch>,
}

impl Case {
    /// Finds the shortest path that violates the property.
    #[must_use]
    pub fn explore(&self) -> Report {
        let missing = [&[self.guard], &self.also[..]].concat();
        shortest(&self.scenario.clone().without(&missing), self.falls)
    }
}

const ALLOWED: &[Policy] = &[Policy::Allow];
const ASKS: &[Policy] = &[Policy::Ask];

fn scenario(effect: toolwright_core::tool::Effect, policies: &'static [Policy]) -> Scenario {
    Scenario {
        outcomes: vec![Outcome::Result, Outcome::Transient],
        verdicts: vec![Verdict::Approve],
        ends_run: false,
        ..one("without a check", effect, policies, FAIR)
    }
}

fn with(budget: Budget, scenario: Scenario) -> Scenario {
    Scenario { budget, ..scenario }
}

/// Two equal calls, and what people may say of them.
fn two(policies: &'static [Policy], verdicts: &[Verdict]) -> Scenario {
    let call = Call { effect: Idempotent, policies };
    Scenario {
        calls: vec![call, call],
        workers: 1,
        verdicts: verdicts.to_vec(),
        ends_run: false,
        ..scenario(Idempotent, policies)
    }
}

/// Returns a case for every check, at least one.
#[must_use]
pub fn cases() -> Vec<Case> {
    let crash = Budget { crashes: 1, ..FAIR };
    let lapse = Budget { lapses: 1, ..FAIR };
    let deadline = Budget { deadlines: 1, ..FAIR };
    let change = Budget { changes: 1, ..FAIR };
    let policy = Budget { policies: 1, ..FAIR };
    let unheard_and_changed = Budget { changes: 1, unheard: 1, ..FAIR };
    let case = |guard, falls, scenario| Case { guard, falls, scenario, also: Vec::new() };
    let decide = |guard, falls, scenario| case(Switch::Decide(guard), falls, scenario);
    let (once, asks) = (scenario(Once, ALLOWED), scenario(Once, ASKS));
    let again = scenario(Idempotent, ALLOWED);
    let staged =
        Scenario { stages: EVERY_STAGE, ..with(Budget { delays: 2, ..FAIR }, again.clone()) };
    let elsewhere = Scenario { is_external: true, ..once.clone() };
    let of = |verdicts: &[Verdict], scenario: &Scenario| Scenario {
        verdicts: verdicts.to_vec(),
        ..scenario.clone()
    };
    let denied = with(policy, scenario(Once, &[Policy::Ask, Policy::Deny]));
    let ended = |scenario: &Scenario| Scenario { ends_run: true, ..scenario.clone() };
    let each_time = two(&[Policy::Ask, Policy::AskEachTime], &[Verdict::Grant]);
    // The person grants with the first call, and the grant covers one of the others.
    let granted = two(ASKS, &[Verdict::Grant]);
    let granted = Scenario { calls: vec![granted.calls[0]; 3], ..granted };
    let revoked = two(ASKS, &[Verdict::Grant, Verdict::Revoke]);
    let mut cases = vec![
        decide(Guard::EvaluatedAtClaim, property::IN_TIME, with(deadline, asks.clone())),
        decide(Guard::DecisionBound, property::DECIDED, with(change, asks.clone())),
        decide(Guard::ShownBound, property::SHOWN, rewritten("without a check", REWRITTEN)),
        decide(Guard::ShownBound, property::SHOWN, sealed("without a check", REWRITTEN)),
        decide(Guard::JournalBound, property::DECIDED, rewritten("without a check", REWRITTEN)),
        decide(Guard::DecisionInTime, property::IN_TIME, with(deadline, asks.clone())),
        decide(Guard::Fenced, property::FENCED, with(lapse, again.clone())),
        decide(Guard::HistoryOfItsTime, property::NOT_ACCUSED, asks.clone()),
        decide(Guard::RunEndSeen, property::NOT_STRANDED, ended(&again)),
        decide(Guard::RunEndCommitted, property::RUN_OVER, ended(&once)),
        decide(Guard::Verified, property::NOT_FORGED, ended(&of(&[Verdict::Forged], &once))),
        decide(Guard::AnswerStays, property::ONE_ANSWER, of(&[Verdict::Requeue], &again)),
        decide(Guard::GrantUseTaken, property::GRANT_USES, granted),
        decide(Guard::GrantInTerms, property::GRANT_TERMS, revoked),
        decide(Guard::GrantNotForEachTime, property::EACH_TIME, with(policy, each_time)),
        decide(Guard::DenialFirst, property::DENIED, denied),
        decide(Guard::DenialHolds, property::REJECTED, two(ASKS, &[Verdict::Reject])),
        decide(Guard::DeadLetterStays, property::LETTER, ended(&of(&[Verdict::Requeue], &again))),
        decide(Guard::StagesFirst, property::STAGED, staged.clone()),
        decide(Guard::StagesCurrent, property::STAGED_NOW, staged.clone()),
        decide(Guard::WaitingIsFree, property::WAITING, staged.clone()),
        decide(
            Guard::SuppliedInTime,
            property::SUPPLIED_IN_TIME,
            with(deadline, elsewhere.clone()),
        ),
        decide(Guard::HandedOverAtOnce, property::HANDED_OVER, elsewhere.clone()),
        case(Switch::NoCompareAndSet, property::ONE_ANSWER, elsewhere),
        case(Switch::NoCompareAndSet, property::KEPT_OUT, staged),
        case(Switch::NoCompareAndSet, property::ENDED, asks.clone()),
        case(Switch::RenewalUnseen, property::RENEWED, with(lapse, once.clone())),
        case(Switch::NotWrittenAhead, property::ONCE, with(crash, asks.clone())),
        case(Switch::PlaceNotKept, property::ONE_ANSWER, once.clone()),
        case(Switch::PlaceNotKept, property::ONCE, once.clone()),
        case(Switch::SignedUnseen, property::BOUND, with(unheard_and_changed, asks.clone())),
        case(
            Switch::RunNotDigested,
            property::GRANT_TERMS,
            moved("without a check", Budget { rewrites: 2, ..FAIR }),
        ),
        case(Switch::NobodyResumes, property::NOT_STRANDED, asks),
        case(Switch::NobodySweeps, property::NOT_STRANDED, with(crash, once.clone())),
    ];
    // The claim checks once more whether it was begun before.
    cases.push(Case {
        guard: Switch::Decide(Guard::LostOnce),
        falls: property::ONCE,
        scenario: with(crash, once),
        also: vec![Switch::Decide(Guard::EvaluatedAtClaim)],
    });
    cases.push(Case {
        guard: Switch::Decide(Guard::RunEndSeen),
        falls: property::RUN_OVER,
        scenario: ended(&again),
        also: vec![Switch::Decide(Guard::RunEndCommitted)],
    });
    cases
}
