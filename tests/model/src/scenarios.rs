//! The scenarios that are explored by default, and those that are for patient people.

use toolwright::Effect;

use crate::scenario::{Budget, Call, Outcome, Scenario, Verdict};
use crate::switches::Switches;

/// Nothing goes wrong.
pub const FAIR: Budget = Budget { crashes: 0, lapses: 0, deadlines: 0, unheard: 0, changes: 0 };

const EVERY_OUTCOME: [Outcome; 6] = [
    Outcome::Result,
    Outcome::NotStarted,
    Outcome::Transient,
    Outcome::Final,
    Outcome::Unknown,
    Outcome::GivenUp,
];

const EVERY_VERDICT: [Verdict; 8] = [
    Verdict::Approve,
    Verdict::Edit,
    Verdict::Reject,
    Verdict::Happened,
    Verdict::DidNotHappen,
    Verdict::Forged,
    Verdict::Requeue,
    Verdict::Discard,
];

/// One call of this kind, among two workers and all that people say. Late owners may act.
#[must_use]
pub fn one(name: &'static str, effect: Effect, asks: bool, budget: Budget) -> Scenario {
    Scenario {
        name,
        calls: vec![Call { effect, asks }],
        workers: 2,
        attempts: 2,
        generations: 2,
        budget,
        outcomes: EVERY_OUTCOME.to_vec(),
        verdicts: EVERY_VERDICT.to_vec(),
        ends_run: true,
        late_owners_act: true,
        switches: Switches::default(),
    }
}

/// All that is explored by default.
#[must_use]
pub fn short() -> Vec<Scenario> {
    use Effect::{Idempotent, Once};
    let lost = Budget { crashes: 1, lapses: 1, ..FAIR };
    let unheard = Budget { crashes: 1, unheard: 1, ..FAIR };
    let late = Budget { crashes: 1, deadlines: 1, ..FAIR };
    let changes = Budget { crashes: 1, changes: 1, ..FAIR };
    let run_goes_on = |scenario| Scenario { ends_run: false, ..scenario };
    vec![
        one("once, allowed, owners are lost", Once, false, lost),
        one("once, asks, owners are lost", Once, true, lost),
        one("idempotent, allowed, owners are lost", Idempotent, false, lost),
        run_goes_on(one("idempotent, asks, owners are lost", Idempotent, true, lost)),
        one("once, asks, commits are unheard", Once, true, unheard),
        one("once, asks, deadlines pass", Once, true, late),
        run_goes_on(one("idempotent, asks, deadlines pass", Idempotent, true, late)),
        run_goes_on(one("idempotent, asks, tools change", Idempotent, true, changes)),
        Scenario {
            late_owners_act: false,
            ..run_goes_on(one("once, asks, late owners stop", Once, true, lost))
        },
        two("two calls, owners are lost", lost),
    ]
}

/// Two calls beside each other: one is asked about and must not be repeated, the other may begin at once and again.
#[must_use]
pub fn two(name: &'static str, budget: Budget) -> Scenario {
    Scenario {
        calls: vec![
            Call { effect: Effect::Once, asks: true },
            Call { effect: Effect::Idempotent, asks: false },
        ],
        generations: 1,
        outcomes: vec![Outcome::Result, Outcome::Transient],
        verdicts: vec![Verdict::Approve, Verdict::Reject, Verdict::Happened],
        ..one(name, Effect::Once, true, budget)
    }
}

/// What patient people explore: each kind of call by itself, or the two beside each other, with everything that may
/// go wrong within one budget.
#[must_use]
pub fn long(calls: u8, change: impl Fn(Scenario) -> Scenario) -> Vec<Scenario> {
    use Effect::{Idempotent, Once};
    if calls > 1 {
        return vec![change(two("two calls", FAIR))];
    }
    vec![
        change(one("once, allowed", Once, false, FAIR)),
        change(one("once, asks", Once, true, FAIR)),
        change(one("idempotent, allowed", Idempotent, false, FAIR)),
        change(one("idempotent, asks", Idempotent, true, FAIR)),
        change(Scenario {
            late_owners_act: false,
            ..one("once, asks, late owners stop", Once, true, FAIR)
        }),
    ]
}
