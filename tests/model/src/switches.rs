//! Guards that can be taken away, to see what they are for.

/// One guard that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Switch {
    /// The store takes every change, whatever version it starts from.
    NoCompareAndSet,
    /// A body begins before its claim is durable; claim and end are written together.
    NotWrittenAhead,
    /// An owner writes its end over whatever is there now.
    NoFence,
    /// What was allowed once is claimed without a look at decision, deadline and tool.
    NotJudgedAtClaim,
    /// A decision counts whatever generation it is about.
    DecisionNotBound,
    /// The approval service takes a decision whatever generation was shown.
    DeskNotBound,
    /// A decision counts at the claim although its time has passed.
    ExpiryIgnored,
    /// A lost owner's call is tried again whatever its effect.
    LostOnceRetried,
    /// A turn that is submitted again does not look at its places, and they are not unique.
    PlaceNotKept,
    /// Nobody goes on with what others have left.
    NobodyResumes,
    /// Nobody looks for lapsed leases.
    NobodySweeps,
    /// A decision and what it makes of the call are two commits.
    DecisionApart,
    /// An answer is replaced by what comes after it.
    AnswerReplaced,
    /// Whoever finishes tells what came of its own attempt, though the call had its answer before.
    OwnResultTold,
    /// A claim compares a record with a history that is younger.
    HistoryNotCut,
    /// A new call does not ask whether its run has ended elsewhere.
    RunEndUnseen,
    /// It asks, but not in the commit that records it.
    RunEndNotCommitted,
    /// Who ends a run does not ask whether the word that a call did not happen counts.
    DoubtSkipped,
    /// A sweep does not see that a lease was renewed after it looked.
    RenewalUnseen,
}

impl Switch {
    /// Every one.
    pub const ALL: [Self; 19] = [
        Self::NoCompareAndSet,
        Self::NotWrittenAhead,
        Self::NoFence,
        Self::NotJudgedAtClaim,
        Self::DecisionNotBound,
        Self::DeskNotBound,
        Self::ExpiryIgnored,
        Self::LostOnceRetried,
        Self::PlaceNotKept,
        Self::NobodyResumes,
        Self::NobodySweeps,
        Self::DecisionApart,
        Self::AnswerReplaced,
        Self::OwnResultTold,
        Self::HistoryNotCut,
        Self::RunEndUnseen,
        Self::RunEndNotCommitted,
        Self::DoubtSkipped,
        Self::RenewalUnseen,
    ];
}

/// Which guards are missing; none by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Switches(u32);

impl Switches {
    /// These.
    #[must_use]
    pub fn of(switches: &[Switch]) -> Self {
        Self(switches.iter().fold(0, |all, switch| all | 1 << *switch as u32))
    }

    /// Whether a guard is missing.
    #[must_use]
    pub fn has(self, switch: Switch) -> bool {
        self.0 & (1 << switch as u32) != 0
    }
}
