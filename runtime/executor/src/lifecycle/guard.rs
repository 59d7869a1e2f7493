//! The checks on which the guarantees for a call in a journal depend. With the feature `guards`, tests can switch
//! single checks off to show which guarantee then fails. Without the feature, all checks are on.

/// One of the checks that `decide` makes. The doc of each variant says what the check ensures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Guard {
    /// The policy, the tool, the arguments, the decision and the run of a call are checked again when the call is
    /// claimed.
    EvaluatedAtClaim,
    /// A decision is valid only for the generation and the digest that it names.
    DecisionBound,
    /// A decision is valid only for the arguments that the person was shown.
    ShownBound,
    /// A decision is valid only in the journal and for the project that it names.
    JournalBound,
    /// A decision is valid only before the deadline of the request for it.
    DecisionInTime,
    /// A call of effect `once` whose owner was lost does not run again.
    LostOnce,
    /// The result of an attempt is recorded only if its owner has the latest claim.
    Fenced,
    /// If the history is newer than the record, both are read again, and no contradiction between them is reported.
    HistoryOfItsTime,
    /// A call does not begin if its run had ended when the facts for the decision were read.
    RunEndSeen,
    /// A call does not begin if its run has ended meanwhile, because its claim is committed on the condition that the
    /// run has not ended.
    RunEndCommitted,
    /// A call whose last decision is invalid does not end, if it had begun before that decision. It returns to its
    /// earlier state.
    Verified,
    /// The answer of a call never changes. A later result is recorded separately.
    AnswerStays,
    /// A use of a grant is counted in the same commit that claims the call.
    GrantUseTaken,
    /// A grant is valid only within its scope, its time and its number of uses.
    GrantInTerms,
    /// If a rule asks a person about each call, a grant does not replace the person.
    GrantNotForEachTime,
    /// A denial of the policy overrides a person's approval.
    DenialFirst,
    /// If a person rejected a call in this run, people are not asked about the same call again.
    DenialHolds,
    /// A requeued dead letter that cannot run becomes a dead letter again.
    DeadLetterStays,
    /// The application's middleware examines a call before the call is claimed.
    StagesFirst,
    /// The decision of the middleware is valid only for the version of the call that it examined.
    StagesCurrent,
    /// A delay by a middleware does not count as an attempt.
    WaitingIsFree,
    /// A supplied result is accepted only before the deadline of its call.
    SuppliedInTime,
    /// A call is handed over in the same commit that claims the call.
    HandedOverAtOnce,
}

/// The set of checks that are on: all of them, except in tests that switch some off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Guards {
    #[cfg(feature = "guards")]
    off: u32,
}

impl Guards {
    /// Returns all checks except these.
    #[cfg(feature = "guards")]
    #[must_use]
    pub fn without(off: &[Guard]) -> Self {
        Self { off: off.iter().fold(0, |all, guard| all | 1 << *guard as u32) }
    }

    /// Reports whether a check is on.
    #[cfg(feature = "guards")]
    #[must_use]
    pub fn has(self, guard: Guard) -> bool {
        self.off & (1 << guard as u32) == 0
    }

    /// Reports whether a check is on.
    #[cfg(not(feature = "guards"))]
    #[inline]
    #[must_use]
    pub fn has(self, _: Guard) -> bool {
        true
    }
}
