//! The settings of a call, which are applied before its stages run.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::stages::Stages;
use crate::call::{Claim, Family, Slot};
use crate::catalog::Form;

impl<'a> Stages<'a> {
    /// Sets the state that the attempts of the call share; `None` if its tool makes no calls itself.
    pub(crate) fn with_family(self, family: Option<&'a Arc<Family>>) -> Self {
        Self { family, ..self }
    }

    /// Returns when the total timeout of the call ends. The time that the call has spent waiting for its children does
    /// not count.
    pub(super) fn deadline(self) -> Option<Instant> {
        let away = self.family.map_or(Duration::ZERO, |family| family.time_away());
        self.deadline.map(|deadline| deadline + away)
    }

    /// Sets the final arguments of the call, and the claim that allows the call to run.
    pub(crate) fn claimed(self, arguments: &'a str, claim: &'a Claim) -> Self {
        Self { arguments, claimed: Some(claim), ..self }
    }

    /// Returns the form of the call's arguments, which are final if the call was claimed.
    #[inline]
    pub(super) fn form(self) -> Form {
        if self.claimed.is_some() { Form::Final } else { Form::Sent }
    }

    /// Sets when the total timeout ends, because earlier attempts have used up a part of it.
    pub(crate) fn until(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    pub(crate) fn at(self, slot: Option<&'a Slot>) -> Self {
        Self { slot, ..self }
    }

    /// Marks the call as one that was tried before.
    pub(super) fn again(self) -> Self {
        Self { is_again: true, ..self }
    }
}
