//! Filters the runs of a journal. Pure.

use jiff::Timestamp;

use super::head::{Head, Phase};

/// Selects runs of a journal: all runs unless a field is set.
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
    /// Only runs of this agent.
    pub agent: Option<String>,
    /// Only runs of this user.
    pub user: Option<String>,
    /// Only runs of this session.
    pub session: Option<String>,
    /// Only runs in this phase.
    pub phase: Option<Phase>,
    /// If `true`, only runs that are parked; if `false`, only runs that are not.
    pub parked: Option<bool>,
    /// Only runs that were started at this time or before.
    pub created_before: Option<Timestamp>,
    /// Only runs that were started at this time or later.
    pub created_after: Option<Timestamp>,
    /// Only runs whose head was last written at this time or before.
    pub updated_before: Option<Timestamp>,
}

impl RunFilter {
    /// Selects all runs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects only runs of this agent.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Selects only runs of this user.
    #[must_use]
    pub fn user(mut self, name: impl Into<String>) -> Self {
        self.user = Some(name.into());
        self
    }

    /// Selects only runs of this session.
    #[must_use]
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.session = Some(id.into());
        self
    }

    /// Selects only runs in this phase.
    #[must_use]
    pub fn phase(mut self, phase: Phase) -> Self {
        self.phase = Some(phase);
        self
    }

    /// Selects only runs that are parked.
    #[must_use]
    pub fn parked(mut self) -> Self {
        self.parked = Some(true);
        self
    }

    /// Selects only runs that were started at least this long before `now`.
    #[must_use]
    pub fn older_than(mut self, age: jiff::SignedDuration, now: Timestamp) -> Self {
        self.created_before = Some(now.saturating_sub(age).unwrap_or(Timestamp::MIN));
        self
    }

    /// Returns whether the filter selects a run.
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

    /// Whether the filter excludes all runs that have ended.
    pub(super) fn wants_none_that_ended(&self) -> bool {
        self.parked == Some(true) || self.phase.is_some_and(|phase| phase != Phase::Ended)
    }
}
