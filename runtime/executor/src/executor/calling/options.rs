//! Settings of a call, made before its stages begin.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Stages;
use crate::executor::claim::Claim;
use crate::executor::in_turn::Slot;
use crate::executor::nested::Family;
use crate::registry::Form;

impl<'a> Stages<'a> {
    /// Sets the values that the attempts share, if the tool makes calls itself.
    pub(crate) fn with_family(self, family: Option<&'a Arc<Family>>) -> Self {
        Self { family, ..self }
    }

    /// Returns when the total timeout of the call ends. The time for which the call has waited for its own calls does
    /// not count.
    pub(in crate::executor) fn deadline(self) -> Option<Instant> {
        let away = self.family.map_or(Duration::ZERO, |family| family.time_away());
        self.deadline.map(|deadline| deadline + away)
    }

    /// Runs the call with the arguments that were evaluated, as long as its claim is valid.
    pub(crate) fn claimed(self, arguments: &'a str, claim: &'a Claim) -> Self {
        Self { arguments, claimed: Some(claim), ..self }
    }

    /// Returns whether the call's arguments are final. Those of a claimed call are.
    #[inline]
    pub(in crate::executor) fn form(self) -> Form {
        if self.claimed.is_some() { Form::Final } else { Form::Sent }
    }

    /// Sets when the total timeout ends. Earlier attempts have used some of this time.
    pub(crate) fn until(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    /// Sets the slot of the call in a turn.
    pub(crate) fn at(self, slot: Option<&'a Slot>) -> Self {
        Self { slot, ..self }
    }

    /// Marks the call as one that was attempted before.
    pub(in crate::executor) fn again(self) -> Self {
        Self { is_again: true, ..self }
    }
}
