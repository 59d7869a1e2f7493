//! The checks on which the guarantees of a journalled call depend. With the feature `guards`, tests switch single
//! checks off to show which guarantee then fails; without the feature all are on.

/// One of the checks that `decide` makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Guard {
    /// A claim checks tool, decision, deadline and run again.
    EvaluatedAtClaim,
    /// A decision counts only for the generation and the digest that it names.
    DecisionBound,
    /// A decision counts only for the text that the person was shown.
    ShownBound,
    /// A statement counts only in the journal and for the project that it names.
    JournalBound,
    /// A decision counts only before its deadline.
    DecisionInTime,
    /// A lost call of effect `once` does not run again.
    LostOnce,
    /// A result counts only if the owner of the call holds the latest claim.
    Fenced,
    /// A record is compared only with a history that is not younger.
    HistoryOfItsTime,
    /// No call of a run begins that has ended, if the decision has read the end.
    RunEndSeen,
    /// No call of an ended run begins: a condition of the commit checks that again.
    RunEndCommitted,
    /// Only a verified statement ends a call: a forged one takes it back to its earlier state.
    Verified,
    /// An answer never changes: a later result is only for operators.
    AnswerStays,
    /// The use of a grant is taken in the same commit as the claim.
    GrantUseTaken,
    /// A grant counts only within its scope, its time and its number of uses.
    GrantInTerms,
    /// The policy asks a person about each call, and a grant does not replace that.
    GrantNotForEachTime,
    /// A denial of the policy overrides a person's approval.
    DenialFirst,
    /// A call that a person rejected in this run is not asked about again.
    DenialHolds,
    /// A requeued dead letter that cannot run becomes a dead letter again.
    DeadLetterStays,
    /// The stages of the application examine a call before it is claimed.
    StagesFirst,
    /// The stages' decision counts only for the version of the call that they examined.
    StagesCurrent,
    /// A delay by a stage does not count as an attempt.
    WaitingIsFree,
    /// A supplied result counts only before the deadline of its call.
    SuppliedInTime,
    /// A call is handed over in the same commit as its claim.
    HandedOverAtOnce,
}

/// The checks that are made: all of them, unless a test turns some off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Guards {
    #[cfg(feature = "guards")]
    off: u32,
}

impl Guards {
    /// Makes a set of all checks except these.
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
