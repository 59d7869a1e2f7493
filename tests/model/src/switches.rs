//! Checks that can be removed, to show what each is for: those of the decision itself, and those around it.

use toolwright_executor::lifecycle::{Guard, Guards};

/// A check that can be removed. Most are named by what happens without it, and so are their docs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Switch {
    /// A guard of `decide`.
    Decide(Guard),
    /// The store accepts every change, whatever version it starts from.
    NoCompareAndSet,
    /// The store takes a call from an owner whose lease was renewed.
    RenewalUnseen,
    /// A body begins before its claim is durable.
    NotWrittenAhead,
    /// A turn that is submitted again ignores its recorded calls, and slots are not unique.
    PlaceNotKept,
    /// A person signs the call as it is now, and not as it was shown.
    SignedUnseen,
    /// An executor does not notice that a call was moved to another run.
    RunNotDigested,
    /// No process resumes the calls of others.
    NobodyResumes,
    /// No process looks for expired leases.
    NobodySweeps,
}

impl Switch {
    /// Every check.
    pub const ALL: [Self; 31] = [
        Self::Decide(Guard::EvaluatedAtClaim),
        Self::Decide(Guard::DecisionBound),
        Self::Decide(Guard::ShownBound),
        Self::Decide(Guard::JournalBound),
        Self::Decide(Guard::DecisionInTime),
        Self::Decide(Guard::LostOnce),
        Self::Decide(Guard::Fenced),
        Self::Decide(Guard::HistoryOfItsTime),
        Self::Decide(Guard::RunEndSeen),
        Self::Decide(Guard::RunEndCommitted),
        Self::Decide(Guard::Verified),
        Self::Decide(Guard::AnswerStays),
        Self::Decide(Guard::GrantUseTaken),
        Self::Decide(Guard::GrantInTerms),
        Self::Decide(Guard::GrantNotForEachTime),
        Self::Decide(Guard::DenialFirst),
        Self::Decide(Guard::DenialHolds),
        Self::Decide(Guard::DeadLetterStays),
        Self::Decide(Guard::StagesFirst),
        Self::Decide(Guard::StagesCurrent),
        Self::Decide(Guard::WaitingIsFree),
        Self::Decide(Guard::SuppliedInTime),
        Self::Decide(Guard::HandedOverAtOnce),
        Self::NoCompareAndSet,
        Self::RenewalUnseen,
        Self::NotWrittenAhead,
        Self::PlaceNotKept,
        Self::SignedUnseen,
        Self::RunNotDigested,
        Self::NobodyResumes,
        Self::NobodySweeps,
    ];
}

/// The missing checks; none by default.
#[derive(Debug, Clone, Default)]
pub struct Switches(Vec<Switch>);

impl Switches {
    /// Removes these checks.
    #[must_use]
    pub fn of(switches: &[Switch]) -> Self {
        Self(switches.to_vec())
    }

    /// Returns whether a check is missing.
    #[must_use]
    pub fn has(&self, switch: Switch) -> bool {
        self.0.contains(&switch)
    }

    /// Returns the guards of `decide` that are left.
    #[must_use]
    pub fn guards(&self) -> Guards {
        let off = self.0.iter().filter_map(|switch| match switch {
            Switch::Decide(guard) => Some(*guard),
            _ => None,
        });
        Guards::without(&off.collect::<Vec<_>>())
    }
}
