//! The checks that the promises of a journalled call rest on. Tests switch single ones off, with the feature `guards`, to
//! show which promise falls then; without the feature none can be.

/// A check of `decide`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Guard {
    /// A claim looks at tool, decision, deadline and run once more.
    EvaluatedAtClaim,
    /// A decision counts for its generation and digest alone.
    DecisionBound,
    /// A decision counts for what was shown alone.
    ShownBound,
    /// A statement counts in the journal and for the project alone that it names.
    JournalBound,
    /// A decision counts in its time alone.
    DecisionInTime,
    /// A lost call of effect `once` is not run again.
    LostOnce,
    /// A result counts only of the owner whose claim is the last.
    Fenced,
    /// A record is compared with a history that is no younger.
    HistoryOfItsTime,
    /// Nothing begins of a run that has ended, as far as was read.
    RunEndSeen,
    /// Nothing begins of a run that has ended, as the commit says once more.
    RunEndCommitted,
    /// A call ends only by what is verified: a forged statement takes it back to where it was.
    Verified,
    /// An answer stays: what comes later is a result for operators.
    AnswerStays,
    /// A grant's use is taken in the commit of the claim.
    GrantUseTaken,
    /// A grant counts in its scope, its time and its uses alone.
    GrantInTerms,
    /// A grant does not help where the policy asks each time.
    GrantNotForEachTime,
    /// A denial of the policy overrides a person's approval.
    DenialFirst,
    /// What a person rejected in this run is not asked again.
    DenialHolds,
    /// A dead letter that cannot run is dead again.
    DeadLetterStays,
    /// The stages of the application look at a call before it is claimed.
    StagesFirst,
    /// What the stages say counts for the version of the call that they looked at.
    StagesCurrent,
    /// A call that a stage delays spends no attempt.
    WaitingIsFree,
    /// A result counts that is supplied before the deadline of its call.
    SuppliedInTime,
    /// A call is handed over in the commit of its claim.
    HandedOverAtOnce,
}

/// Which checks are made; all of them, unless a test says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Guards {
    #[cfg(feature = "guards")]
    off: u32,
}

impl Guards {
    /// Makes all checks but these.
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
