//! What is known of a call before its stages begin.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Stages;
use crate::executor::claim::Claim;
use crate::executor::in_turn::Slot;
use crate::executor::nested::Family;
use crate::registry::Form;

impl<'a> Stages<'a> {
    /// Runs a call that makes calls itself, where it does.
    pub(crate) fn with_family(self, family: Option<&'a Arc<Family>>) -> Self {
        Self { family, ..self }
    }

    /// When the time for the whole call is over, as far as its own time has passed.
    pub(in crate::executor) fn deadline(self) -> Option<Instant> {
        let away = self.family.map_or(Duration::ZERO, |family| family.time_away());
        self.deadline.map(|deadline| deadline + away)
    }

    /// Runs the call with the arguments that were evaluated, as long as its claim is valid.
    pub(crate) fn claimed(self, arguments: &'a str, claim: &'a Claim) -> Self {
        Self { arguments, claimed: Some(claim), ..self }
    }

    /// What its arguments are: those of a claim are final.
    #[inline]
    pub(in crate::executor) fn form(self) -> Form {
        if self.claimed.is_some() { Form::Final } else { Form::Sent }
    }

    /// Ends the call at this time: earlier attempts have used some of its total timeout.
    pub(crate) fn until(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    /// Places the call in a turn.
    pub(crate) fn at(self, slot: Option<&'a Slot>) -> Self {
        Self { slot, ..self }
    }

    /// Marks a further attempt of the call.
    pub(in crate::executor) fn again(self) -> Self {
        Self { is_again: true, ..self }
    }
}
