//! Checks that can be taken away, to see what they are for: those of the decision itself, and those around it.

use toolwright_executor::lifecycle::{Guard, Guards};

/// One check that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Switch {
    /// One of `decide`.
    Decide(Guard),
    /// The store takes every change, whatever version it starts from.
    NoCompareAndSet,
    /// The store takes a call from an owner whose lease was renewed.
    RenewalUnseen,
    /// A body begins before its claim is durable.
    NotWrittenAhead,
    /// A turn that is submitted again does not look at its places, and they are not unique.
    PlaceNotKept,
    /// A person signs whatever the call is by now, and not what was shown.
    SignedUnseen,
    /// An executor does not see by the digest that a call is one of another run now.
    RunNotDigested,
    /// Nobody goes on with what others have left.
    NobodyResumes,
    /// Nobody looks for lapsed leases.
    NobodySweeps,
}

impl Switch {
    /// Every one.
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

/// Which checks are missing; none by default.
#[derive(Debug, Clone, Default)]
pub struct Switches(Vec<Switch>);

impl Switches {
    /// These.
    #[must_use]
    pub fn of(switches: &[Switch]) -> Self {
        Self(switches.to_vec())
    }

    /// Whether a check is missing.
    #[must_use]
    pub fn has(&self, switch: Switch) -> bool {
        self.0.contains(&switch)
    }

    /// Those of `decide` that are there.
    #[must_use]
    pub fn guards(&self) -> Guards {
        let off = self.0.iter().filter_map(|switch| match switch {
            Switch::Decide(guard) => Some(*guard),
            _ => None,
        });
        Guards::without(&off.collect::<Vec<_>>())
    }
}
