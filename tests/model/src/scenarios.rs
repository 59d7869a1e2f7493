//! The scenarios that are explored by default, and those that take long.

use toolwright_core::tool::Effect;

use crate::scenario::{Budget, Call, Outcome, Policy, Rewrite, Scenario, StageSays, Verdict};
use crate::switches::Switches;

/// Nothing goes wrong.
pub const FAIR: Budget = Budget {
    crashes: 0,
    lapses: 0,
    deadlines: 0,
    unheard: 0,
    changes: 0,
    policies: 0,
    delays: 0,
    rewrites: 0,
};

/// All that stages may decide. The fair continuation uses the first.
pub const EVERY_STAGE: &[StageSays] =
    &[StageSays::Continue, StageSays::Later, StageSays::Answer, StageSays::Refuse];

const EVERY_OUTCOME: [Outcome; 6] = [
    Outcome::Result,
    Outcome::NotStarted,
    Outcome::Transient,
    Outcome::Final,
    Outcome::Unknown,
    Outcome::Dropped,
];

/// What people may say of single calls.
const EVERY_VERDICT: [Verdict; 11] = [
    Verdict::Approve,
    Verdict::Edit,
    Verdict::Reject,
    Verdict::Accept,
    Verdict::Happened,
    Verdict::DidNotHappen,
    Verdict::Forged,
    Verdict::Requeue,
    Verdict::RequeueEdited,
    Verdict::ForgedRequeue,
    Verdict::Discard,
];

const ALLOWED: &[Policy] = &[Policy::Allow];
const ASKS: &[Policy] = &[Policy::Ask];

/// One call of this kind, with two workers and all that people may say. Owners may act late.
#[must_use]
pub fn one(
    name: &'static str,
    effect: Effect,
    policies: &'static [Policy],
    budget: Budget,
) -> Scenario {
    Scenario {
        name,
        calls: vec![Call { effect, policies }],
        workers: 2,
        attempts: 2,
        generations: 2,
        budget,
        outcomes: EVERY_OUTCOME.to_vec(),
        verdicts: EVERY_VERDICT.to_vec(),
        ends_run: true,
        reconciles: false,
        late_owners_act: true,
        stages: &[],
        rewrites: &[],
        is_sealed: false,
        has_two_runs: false,
        is_external: false,
        lays_failures_aside: false,
        switches: Switches::default(),
    }
}

/// The scenario of [`edited_and_requeued`](crate::story::edited_and_requeued).
#[must_use]
pub fn story() -> Scenario {
    let asks = one("a story", Effect::Idempotent, ASKS, FAIR);
    Scenario { workers: 1, generations: 4, ends_run: false, ..asks }
}

/// Returns all scenarios that the tests explore.
#[must_use]
pub fn short() -> Vec<Scenario> {
    use Effect::{Idempotent, Once};
    let crash = Budget { crashes: 1, ..FAIR };
    let lapse = Budget { lapses: 1, ..FAIR };
    let unheard = Budget { unheard: 1, ..FAIR };
    let late = Budget { deadlines: 1, ..FAIR };
    let changes = Budget { changes: 1, ..FAIR };
    let policies = Budget { policies: 1, ..FAIR };
    let goes_on = |scenario| Scenario { ends_run: false, ..scenario };
    let brief = |scenario| Scenario { generations: 1, ..goes_on(scenario) };
    let alone = |scenario| Scenario { workers: 1, ..goes_on(scenario) };
    vec![
        Scenario { generations: 1, ..one("once, allowed, the run ends", Once, ALLOWED, FAIR) },
        brief(one("once, allowed, an owner crashes", Once, ALLOWED, crash)),
        brief(one("once, allowed, a lease lapses", Once, ALLOWED, lapse)),
        brief(one("once, asks, a commit is unheard", Once, ASKS, unheard)),
        alone(one("once, asks, a deadline passes", Once, ASKS, late)),
        alone(one("once, asks, the tool changes", Once, ASKS, changes)),
        alone(one("once, asks, then the policy denies", Once, DENIED, policies)),
        alone(one("idempotent, asks, all that people say", Idempotent, ASKS, FAIR)),
        alone(planned("once, planned", Once, FAIR)),
        Scenario { workers: 1, ..granted("two calls, one grant", ASKS, FAIR) },
        alone(reconciled("once, allowed, its tool looks", crash)),
        staged("once, stages, a commit is unheard", Once, Budget { unheard: 1, ..DELAYED }),
        staged(
            "idempotent, stages, a process crashes",
            Idempotent,
            Budget { crashes: 1, ..DELAYED },
        ),
        Scenario { late_owners_act: false, ..staged("once, stages", Once, DELAYED) },
        laid_aside("once, failures are laid aside, an owner crashes", Once, crash),
        laid_aside("idempotent, failures are laid aside, a commit is unheard", Idempotent, unheard),
        rewritten("once, asks, the journal is rewritten", REWRITTEN),
        sealed("once, asks, a secret, the journal is rewritten", REWRITTEN),
        moved("two runs, one grant, a call is moved", Budget { rewrites: 2, ..FAIR }),
        external("once, elsewhere, a process crashes", ALLOWED, crash),
        external("once, elsewhere, a commit is unheard", ALLOWED, unheard),
        external("once, elsewhere, a deadline passes", ALLOWED, late),
        external("once, elsewhere, asks", ASKS, FAIR),
    ]
}

/// Enough rewrites to hide what would run, show another call, and undo both.
pub const REWRITTEN: Budget = Budget { rewrites: 4, ..FAIR };

/// A call that needs approval, and an adversary who rewrites everything in its record that is not sealed.
#[must_use]
pub fn rewritten(name: &'static str, budget: Budget) -> Scenario {
    use Rewrite::{Allow, Approve, Digest, Hide, Show, Swap};
    Scenario {
        rewrites: &[Show, Hide, Swap, Digest, Allow, Approve],
        workers: 1,
        generations: 3,
        outcomes: vec![Outcome::Result],
        verdicts: vec![Verdict::Approve],
        ends_run: false,
        ..one(name, Effect::Once, ASKS, budget)
    }
}

/// Like [`rewritten`], with sealed arguments.
#[must_use]
pub fn sealed(name: &'static str, budget: Budget) -> Scenario {
    use Rewrite::{Allow, Approve, Show};
    Scenario { rewrites: &[Show, Allow, Approve], is_sealed: true, ..rewritten(name, budget) }
}

/// Two calls of two runs, a grant for one run, and an adversary who moves calls into it.
#[must_use]
pub fn moved(name: &'static str, budget: Budget) -> Scenario {
    Scenario {
        rewrites: &[Rewrite::Move, Rewrite::Allow],
        has_two_runs: true,
        workers: 1,
        generations: 2,
        verdicts: vec![Verdict::Grant],
        outcomes: vec![Outcome::Result],
        ..granted(name, ASKS, budget)
    }
}

/// A stage may delay a call once.
pub const DELAYED: Budget = Budget { delays: 1, ..FAIR };

/// A call that passes through stages, with all that they may decide.
#[must_use]
pub fn staged(name: &'static str, effect: Effect, budget: Budget) -> Scenario {
    Scenario {
        stages: EVERY_STAGE,
        generations: 1,
        outcomes: vec![Outcome::Result, Outcome::NotStarted, Outcome::Transient],
        verdicts: vec![Verdict::Requeue],
        ends_run: false,
        ..one(name, effect, ALLOWED, budget)
    }
}

/// A call that fails in every way and then becomes a dead letter, and what people may decide about dead letters.
#[must_use]
pub fn laid_aside(name: &'static str, effect: Effect, budget: Budget) -> Scenario {
    Scenario {
        lays_failures_aside: true,
        generations: 1,
        verdicts: vec![
            Verdict::Requeue,
            Verdict::RequeueEdited,
            Verdict::ForgedRequeue,
            Verdict::Discard,
        ],
        ends_run: false,
        ..one(name, effect, ALLOWED, budget)
    }
}

/// An external call, for which results may be supplied any number of times.
#[must_use]
pub fn external(name: &'static str, policies: &'static [Policy], budget: Budget) -> Scenario {
    Scenario {
        is_external: true,
        generations: 1,
        verdicts: vec![Verdict::Approve, Verdict::Reject],
        ..one(name, Effect::Once, policies, budget)
    }
}

/// Returns more scenarios, which take more time.
#[must_use]
pub fn wide() -> Vec<Scenario> {
    use Effect::{Idempotent, Once};
    let crash = Budget { crashes: 1, ..FAIR };
    let lapse = Budget { lapses: 1, ..FAIR };
    let unheard = Budget { unheard: 1, ..FAIR };
    let late = Budget { deadlines: 1, ..FAIR };
    let changes = Budget { changes: 1, ..FAIR };
    let policies = Budget { policies: 1, ..FAIR };
    let goes_on = |scenario| Scenario { ends_run: false, ..scenario };
    let brief = |scenario| Scenario { generations: 1, ..goes_on(scenario) };
    // With two workers, two calls have more states than memory holds.
    let alone = |scenario| Scenario { workers: 1, ..scenario };
    // With all verdicts and outcomes, these take hours.
    let plain = |scenario| Scenario {
        outcomes: vec![Outcome::Result, Outcome::Transient],
        verdicts: vec![Verdict::Approve, Verdict::Edit, Verdict::Reject],
        ..goes_on(scenario)
    };
    vec![
        one("once, allowed, an owner crashes", Once, ALLOWED, crash),
        goes_on(one("once, asks, an owner crashes", Once, ASKS, crash)),
        brief(one("idempotent, allowed, a lease lapses", Idempotent, ALLOWED, lapse)),
        brief(one("idempotent, asks, a commit is unheard", Idempotent, ASKS, unheard)),
        plain(one("once, asks, a deadline passes", Once, ASKS, late)),
        plain(one("idempotent, asks, the tool changes", Idempotent, ASKS, changes)),
        plain(one("once, asks, then the policy denies", Once, DENIED, policies)),
        planned("once, planned, an owner crashes", Once, crash),
        alone(granted("two calls, one grant, an owner crashes", ASKS, crash)),
        alone(granted("two calls, one grant, then asked each time", EACH_TIME, policies)),
        alone(two("two calls, an owner crashes", crash)),
        reconciled("once, allowed, its tool looks", crash),
        external("once, elsewhere, asks, a process crashes", ASKS, crash),
        external("once, elsewhere, asks, a deadline passes", ASKS, late),
        plain(Scenario {
            stages: EVERY_STAGE,
            ..one(
                "once, asks, stages, an owner crashes",
                Once,
                ASKS,
                Budget { crashes: 1, ..DELAYED },
            )
        }),
    ]
}

const DENIED: &[Policy] = &[Policy::Ask, Policy::Deny];
const EACH_TIME: &[Policy] = &[Policy::Ask, Policy::AskEachTime];

/// A call that is planned.
#[must_use]
pub fn planned(name: &'static str, effect: Effect, budget: Budget) -> Scenario {
    one(name, effect, &[Policy::Plan], budget)
}

/// A call whose tool finds out whether it happened. Late owners stop, because the tool can only find what has
/// happened by then.
#[must_use]
pub fn reconciled(name: &'static str, budget: Budget) -> Scenario {
    Scenario {
        reconciles: true,
        late_owners_act: false,
        ends_run: false,
        ..one(name, Effect::Once, ALLOWED, budget)
    }
}

/// Two equal calls that need approval, and grants for them.
#[must_use]
pub fn granted(name: &'static str, policies: &'static [Policy], budget: Budget) -> Scenario {
    let call = Call { effect: Effect::Idempotent, policies };
    Scenario {
        calls: vec![call, call],
        generations: 1,
        outcomes: vec![Outcome::Result, Outcome::Transient],
        verdicts: vec![Verdict::Grant, Verdict::Revoke, Verdict::Reject],
        ends_run: false,
        ..one(name, Effect::Idempotent, policies, budget)
    }
}

/// Two calls: one needs approval and must not be repeated, the other may begin at once and be repeated.
#[must_use]
pub fn two(name: &'static str, budget: Budget) -> Scenario {
    Scenario {
        calls: vec![
            Call { effect: Effect::Once, policies: ASKS },
            Call { effect: Effect::Idempotent, policies: ALLOWED },
        ],
        generations: 1,
        outcomes: vec![Outcome::Result, Outcome::Transient],
        verdicts: vec![Verdict::Approve, Verdict::Reject, Verdict::Happened],
        ends_run: false,
        ..one(name, Effect::Once, ASKS, budget)
    }
}

/// Returns the scenarios that take long: each kind of call by itself, or two calls, with all mishaps within one
/// budget.
#[must_use]
pub fn long(calls: u8, change: impl Fn(Scenario) -> Scenario) -> Vec<Scenario> {
    use Effect::{Idempotent, Once};
    if calls > 1 {
        return vec![change(two("two calls", FAIR)), change(granted("two calls", EACH_TIME, FAIR))];
    }
    vec![
        change(one("once, allowed", Once, ALLOWED, FAIR)),
        change(one("once, asks", Once, &[Policy::Ask, Policy::Deny], FAIR)),
        change(one("idempotent, allowed", Idempotent, ALLOWED, FAIR)),
        change(one("idempotent, asks", Idempotent, ASKS, FAIR)),
        change(planned("once, planned", Once, FAIR)),
        change(reconciled("once, allowed, its tool looks", FAIR)),
    ]
}
