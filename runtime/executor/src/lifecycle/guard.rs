//! The checks on which the guarantees of a journalled call depend. With the feature `guards`, tests switch single
//! checks off to show which guarantee then fails; without the feature all are on.

/// One of the checks that `decide` makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Guard {
    /// At the claim, tool, decision, deadline and run are checked again.
    EvaluatedAtClaim,
    /// A decision is valid only for the generation and the digest that it names.
    DecisionBound,
    /// A decision is valid only for the arguments that the person was shown.
    ShownBound,
    /// A statement is valid only in the journal and for the project that it names.
    JournalBound,
    /// A decision is valid only before the deadline of its question.
    DecisionInTime,
    /// A call of effect `once` whose owner was lost does not run again.
    LostOnce,
    /// The result of an attempt is recorded only if its owner has the latest claim.
    Fenced,
    /// A record is compared only with a history that is at least as new.
    HistoryOfItsTime,
    /// No call of an ended run begins, as far as the facts of the decision show.
    RunEndSeen,
    /// No call of an ended run begins: a condition of the commit checks that again.
    RunEndCommitted,
    /// Only a verified statement ends a call: a forged one takes it back to its earlier state.
    Verified,
    /// An answer never changes: a later result is only for operators.
    AnswerStays,
    /// The use of a grant is taken in the same commit as the claim.
    GrantUseTaken,
    /// A grant is valid only within its scope, its time and its number of uses.
    GrantInTerms,
    /// The policy asks a person about each call, and a grant does not replace that.
    GrantNotForEachTime,
    /// A denial of the policy overrides a person's approval.
    DenialFirst,
    /// If a person rejected a call in this run, people are not asked about the same call again.
    DenialHolds,
    /// A requeued dead letter that cannot run becomes a dead letter again.
    DeadLetterStays,
    /// The application's stages examine a call before the call is claimed.
    StagesFirst,
    /// The stages' decision is valid only for the version of the call that they examined.
    StagesCurrent,
    /// A delay by a stage does not count as an attempt.
    WaitingIsFree,
    /// A supplied result is accepted only before the deadline of its call.
    SuppliedInTime,
    /// A call is handed over in the same commit that claims the call.
    HandedOverAtOnce,
}

/// The checks that are made: all of them, except in tests that switch some off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Guards {
    #[cfg(feature = "guards")]
    off: u32,
}

impl Guards {
    /// Makes all checks except these.
    #[cfg(feature = "guards")]
    #[must_use]
    pub fn without(off: &[Guard]) -> Self {
        Self { off: off.iter().fold(0, |all, guard| all | 1 << *guard as u32) }
    }

    /// Reports whether a check is made.
    #[cfg(feature = "guards")]
    #[must_use]
    pub fn has(self, guard: Guard) -> bool {
        self.off & (1 << guard as u32) == 0
    }

    /// Reports whether a check is made.
    #[cfg(not(feature = "guards"))]
    #[inline]
    #[must_use]
    pub fn has(self, _: Guard) -> bool {
        true
    }
}
