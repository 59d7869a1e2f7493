//! Which runs of a journal are looked for. Pure.

use jiff::Timestamp;

use super::head::{Head, Phase};

/// Which runs are looked for: all of them, unless it says otherwise.
///
/// ```
/// use jiff::{SignedDuration, Timestamp};
/// use toolwright_agent::durable::{Phase, RunFilter};
///
/// let now = Timestamp::now();
/// let filter = RunFilter::new()
///     .user("ada")
///     .phase(Phase::Waiting)
///     .older_than(SignedDuration::from_hours(2), now);
/// # let _ = filter;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunFilter {
    /// Of this agent.
    pub agent: Option<String>,
    /// Of this user.
    pub user: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// Which do this.
    pub phase: Option<Phase>,
    /// Which are parked, or are not.
    pub parked: Option<bool>,
    /// Which were started at this time or before.
    pub created_before: Option<Timestamp>,
    /// Which were started at this time or later.
    pub created_after: Option<Timestamp>,
    /// Whose head was last written at this time or before.
    pub updated_before: Option<Timestamp>,
}

impl RunFilter {
    /// Takes all runs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those of this agent.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Only those of this user.
    #[must_use]
    pub fn user(mut self, name: impl Into<String>) -> Self {
        self.user = Some(name.into());
        self
    }

    /// Only those of this session.
    #[must_use]
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.session = Some(id.into());
        self
    }

    /// Only those that do this.
    #[must_use]
    pub fn phase(mut self, phase: Phase) -> Self {
        self.phase = Some(phase);
        self
    }

    /// Only those that are parked.
    #[must_use]
    pub fn parked(mut self) -> Self {
        self.parked = Some(true);
        self
    }

    /// Only those that were started so long before this time.
    #[must_use]
    pub fn older_than(mut self, age: jiff::SignedDuration, now: Timestamp) -> Self {
        self.created_before = Some(now.saturating_sub(age).unwrap_or(Timestamp::MIN));
        self
    }

    /// Returns whether a run is one of those.
    #[must_use]
    pub fn takes(&self, head: &Head) -> bool {
        let Self {
            agent,
            user,
            session,
            phase,
            parked,
            created_before,
            created_after,
            updated_before,
        } = self;
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.is_none() || wanted.as_deref() == found
        };
        is(agent, Some(&head.agent))
            && is(user, head.user.as_deref())
            && is(session, head.session.as_deref())
            && phase.is_none_or(|phase| phase == head.phase)
            && parked.is_none_or(|parked| parked == head.parked.is_some())
            && created_before.is_none_or(|time| head.created <= time)
            && created_after.is_none_or(|time| time <= head.created)
            && updated_before.is_none_or(|time| head.updated <= time)
    }

    /// Whether no run that has ended is one of those.
    pub(super) fn wants_none_that_ended(&self) -> bool {
        self.parked == Some(true) || self.phase.is_some_and(|phase| phase != Phase::Ended)
    }

    /// Whether no run that goes on is one of those.
    pub(super) fn wants_none_that_goes_on(&self) -> bool {
        self.phase == Some(Phase::Ended)
    }
}
