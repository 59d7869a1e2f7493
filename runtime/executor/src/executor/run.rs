//! One run: an id, the services that only it has, and whether it is still wanted.

use std::any::{TypeId, type_name};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::builder::Core;
use super::{Executor, Ready};
use crate::event::{self, Event, EventKind};
use toolwright_core::capability::{Declared, RunValues, Value};
use toolwright_core::context::{Progress, RunHandle};

/// The calls of one agent, one request, one command line.
pub(crate) struct Run {
    pub(crate) core: Arc<Core>,
    /// The tools that it calls.
    pub(crate) ready: Arc<Ready>,
    id: Arc<str>,
    /// What its calls are given.
    pub(crate) values: RunValues,
    cancelled: Option<CancellationToken>,
    /// On whose behalf it calls.
    user: Option<Arc<str>>,
    /// The session it belongs to.
    session: Option<Arc<str>>,
    /// Somebody started it, so it works on its own calls alone.
    is_own: bool,
    /// It was ended here; that it was ended elsewhere is in the journal.
    ended: Arc<AtomicBool>,
    /// How often its calls were tried again.
    retries: Arc<AtomicU32>,
}

impl Run {
    /// The executor's own run, which has no services of its own.
    pub(super) fn default_of(core: Arc<Core>, ready: Arc<Ready>) -> Self {
        let values = RunValues { executor: Arc::clone(&core.provided), own: Arc::new([]) };
        let id = Uuid::now_v7().to_string().into();
        Self {
            core,
            ready,
            id,
            values,
            cancelled: None,
            user: None,
            session: None,
            is_own: false,
            ended: Arc::default(),
            retries: Arc::default(),
        }
    }

    /// Copies the run, with other tools.
    pub(super) fn with_tools(&self, ready: Arc<Ready>) -> Self {
        Self {
            core: Arc::clone(&self.core),
            ready,
            id: Arc::clone(&self.id),
            values: self.values.clone(),
            cancelled: self.cancelled.clone(),
            user: self.user.clone(),
            session: self.session.clone(),
            is_own: self.is_own,
            ended: Arc::clone(&self.ended),
            retries: Arc::clone(&self.retries),
        }
    }

    /// Copies the run for another user, to explain what the policy would decide.
    pub(super) fn with_user(&self, user: &str) -> Self {
        Self { user: Some(user.into()), ..self.with_tools(Arc::clone(&self.ready)) }
    }

    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    /// Takes one of the retries that a run has; whether there was one left.
    pub(crate) fn takes_a_retry(&self) -> bool {
        let Some(budget) = self.core.retries_per_run else { return true };
        let one_more = |taken: u32| (taken < budget).then_some(taken + 1);
        self.retries.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_ok()
    }

    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The tokens whose cancellation ends every call of the run.
    pub(crate) fn cancellations(&self) -> impl Iterator<Item = &CancellationToken> {
        std::iter::once(&self.core.released).chain(&self.cancelled)
    }

    pub(crate) fn own_cancellation(&self) -> Option<&CancellationToken> {
        self.cancelled.as_ref()
    }

    pub(crate) fn tell(&self, event: &Event<'_>) {
        event::tell(&self.core.listeners, event);
    }
}

impl RunHandle for Run {
    fn id(&self) -> &str {
        &self.id
    }

    fn cancellations(&self) -> [Option<&CancellationToken>; 2] {
        [Some(&self.core.released), self.cancelled.as_ref()]
    }

    fn progress(&self, progress: &Progress<'_>) {
        let Progress { call, provider_id, run, tool, digest, attempt, message, part } = *progress;
        let kind = EventKind::Progress { message, part };
        self.tell(&Event { call, provider_id, run, tool, digest, attempt, kind });
    }

    fn service(&self, id: TypeId) -> Option<&Value> {
        let provisions = &self.core.provisions;
        let place = |declared: &[Declared]| declared.iter().position(|it| it.id == id);
        let run = place(&provisions.per_run).and_then(|index| self.values.own.get(index));
        let shared = || self.core.provided.services.get(place(&provisions.services)?);
        run.or_else(shared)
    }
}

/// Gathers what a run brings.
pub struct RunBuilder {
    core: Arc<Core>,
    ready: Arc<Ready>,
    id: String,
    values: Vec<(TypeId, &'static str, Value)>,
    cancelled: Option<CancellationToken>,
    user: Option<Arc<str>>,
    session: Option<Arc<str>>,
}

impl RunBuilder {
    pub(super) fn new(run: &Run, id: String) -> Self {
        let (core, ready) = (Arc::clone(&run.core), Arc::clone(&run.ready));
        Self { core, ready, id, values: Vec::new(), cancelled: None, user: None, session: None }
    }

    /// A service of this run, declared on the builder with `per_run`.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_arc(Arc::new(value))
    }

    /// Brings a service that is shared with other owners, or one behind a trait object; see [`with`](Self::with).
    #[must_use]
    pub fn with_arc<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.values.push((TypeId::of::<T>(), type_name::<T>(), Box::new(value)));
        self
    }

    /// Cancels every call of the run when the token is cancelled.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancelled = Some(token);
        self
    }

    /// The user of the run; approvers see the name.
    #[must_use]
    pub fn user(mut self, name: impl Into<Arc<str>>) -> Self {
        self.user = Some(name.into());
        self
    }

    /// The session that the run belongs to, in which grants of scope `session` count.
    #[must_use]
    pub fn session(mut self, id: impl Into<Arc<str>>) -> Self {
        self.session = Some(id.into());
        self
    }

    /// The executor as this run sees it.
    ///
    /// # Errors
    /// When a declared service is missing, given twice, or one is given that was not declared.
    pub fn start(mut self) -> Result<Executor, MissingServices> {
        let declared: Vec<Declared> = self.core.provisions.per_run.clone();
        let mut values = Vec::with_capacity(declared.len());
        let mut missing = Vec::new();
        for wanted in declared {
            match self.values.iter().position(|(id, ..)| *id == wanted.id) {
                Some(index) => values.push(self.values.swap_remove(index).2),
                None => missing.push(wanted.name),
            }
        }
        let unexpected: Vec<&'static str> = self.values.iter().map(|(_, name, _)| *name).collect();
        if !missing.is_empty() || !unexpected.is_empty() {
            return Err(MissingServices { missing, unexpected });
        }
        let provided = Arc::clone(&self.core.provided);
        let run = Run {
            core: self.core,
            ready: self.ready,
            id: self.id.into(),
            values: RunValues { executor: provided, own: values.into() },
            cancelled: self.cancelled,
            user: self.user,
            session: self.session,
            is_own: true,
            ended: Arc::default(),
            retries: Arc::default(),
        };
        Ok(Executor { run: Arc::new(run) })
    }
}

impl fmt::Debug for RunBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunBuilder").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why a run cannot start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingServices {
    /// Declared with `per_run`, but not given.
    pub missing: Vec<&'static str>,
    /// Given, but not declared, or given twice.
    pub unexpected: Vec<&'static str>,
}

impl fmt::Display for MissingServices {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the run cannot start")?;
        for name in &self.missing {
            write!(
                formatter,
                "\n- it lacks `{name}`, which every run brings; give it with `.with(…)`"
            )?;
        }
        for name in &self.unexpected {
            write!(
                formatter,
                "\n- `{name}` is given twice or was not declared; declare it with `.per_run::<{name}>()` on the builder"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for MissingServices {}
