//! The state that the calls of one run share: the core of their executor, tools, services, user, and whether the run
//! has ended.

use std::any::TypeId;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::core::Core;
use super::delegated::DelegatedContext;
use super::foreign::ReadText;
use super::lineage::{Lineage, RecordedParent};
use super::ready::Ready;
use super::unknown::unknown;
use crate::catalog::{Catalog, Entry};
use crate::event::{self, Listener, ToolEvent, ToolEventKind};
use toolwright_core::call::Call;
use toolwright_core::capability::{DeclaredService, RunValues, Value};
use toolwright_core::context::{Progress, RunHandle};
use toolwright_core::error::ToolError;
use toolwright_core::spec::Handle;

/// The state of a run. Calls made on the executor itself belong to a run that the executor makes at its build.
pub(crate) struct RunState {
    pub(crate) core: Arc<Core>,
    /// The tools that the run can call.
    pub(crate) ready: Arc<Ready>,
    id: Arc<str>,
    /// The services that the run provides to its calls.
    pub(crate) values: RunValues,
    cancelled: Option<CancellationToken>,
    user: Option<Arc<str>>,
    session: Option<Arc<str>>,
    /// Whether the application started the run. A worker of such a run works only on the run's own calls.
    is_own: bool,
    /// Whether the run was ended in this process. If another process ended it, only the journal records that.
    ended: Arc<AtomicBool>,
    /// How many retries the calls of the run have made.
    retries: Arc<AtomicU32>,
    /// Receives the progress of the run's calls, in addition to the listeners of the executor.
    progress: Option<Arc<[Listener; 1]>>,
    /// Receives every event of the run's calls.
    listener: Option<Arc<[Listener; 1]>>,
    /// The facts about the parent of this run's calls; `None` if the calls have no parent.
    lineage: Option<Arc<Lineage>>,
    /// The rules and values that the run's calls inherit from agents, if agents make the calls.
    delegated: Option<Arc<DelegatedContext>>,
    /// The untrusted sources that the run has read, including those of its agents and of all nested calls.
    read_text: Arc<ReadText>,
}

/// The user, session and listeners of a run, and the token that cancels the run.
#[derive(Default)]
pub(crate) struct Requester {
    pub(crate) cancelled: Option<CancellationToken>,
    pub(crate) user: Option<Arc<str>>,
    pub(crate) session: Option<Arc<str>>,
    pub(crate) progress: Option<Arc<[Listener; 1]>>,
    pub(crate) listener: Option<Arc<[Listener; 1]>>,
}

impl RunState {
    /// Makes the run of calls that are made on the executor itself; it has no services of its own.
    pub(crate) fn default_of(core: Arc<Core>, ready: Arc<Ready>) -> Self {
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
            progress: None,
            listener: None,
            lineage: None,
            delegated: None,
            read_text: Arc::new(ReadText::new(true)),
        }
    }

    /// Registers the tools that resolvers can announce before any of them is called.
    pub(crate) async fn discover_tools(&self) -> Result<(), ToolError> {
        match &self.core.resolving {
            Some(resolving) => resolving.announce(&self.core.registry).await,
            None => Ok(()),
        }
    }

    /// Makes a run that an application starts.
    pub(crate) fn started(
        core: Arc<Core>,
        ready: Arc<Ready>,
        id: String,
        own: Vec<Value>,
        requester: Requester,
    ) -> Self {
        let Requester { cancelled, user, session, progress, listener } = requester;
        let values = RunValues { executor: Arc::clone(&core.provided), own: own.into() };
        let id = id.into();
        let (ended, retries) = Default::default();
        // Another process may have read further sources for a run that a journal records.
        let read_text = Arc::new(ReadText::new(core.journal.is_none()));
        Self {
            core,
            ready,
            id,
            values,
            cancelled,
            user,
            session,
            is_own: true,
            ended,
            retries,
            progress,
            listener,
            lineage: None,
            delegated: None,
            read_text,
        }
    }

    /// Returns a copy of the run that can call the tools of `ready`.
    pub(crate) fn with_tools(&self, ready: Arc<Ready>) -> Self {
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
            progress: self.progress.clone(),
            listener: self.listener.clone(),
            lineage: self.lineage.clone(),
            delegated: self.delegated.clone(),
            read_text: Arc::clone(&self.read_text),
        }
    }

    /// Copies the run for calls that are made on behalf of an agent.
    pub(crate) fn on_behalf_of(
        &self,
        delegated: DelegatedContext,
        listener: Option<Listener>,
    ) -> Self {
        let same = self.with_tools(Arc::clone(&self.ready));
        let listener = listener.map(|listener| Arc::new([listener])).or(same.listener);
        // The run's progress listener is not notified of an agent's calls.
        Self { delegated: Some(Arc::new(delegated)), listener, progress: None, ..same }
    }

    /// Returns a copy of the run that continues on behalf of another agent.
    pub(crate) fn handed_to(&self, delegated: DelegatedContext) -> Self {
        let same = self.with_tools(Arc::clone(&self.ready));
        Self { delegated: Some(Arc::new(delegated)), ..same }
    }

    /// Returns what the calls of the run inherit from the agents on whose behalf they are made.
    #[inline]
    pub(crate) fn delegated(&self) -> Option<&DelegatedContext> {
        self.delegated.as_deref()
    }

    /// Returns the name that approvers see as the maker of the run's calls: `agent:<run>`, followed by the names of the
    /// agents to which the run has delegated its task.
    pub(crate) fn requester(&self) -> String {
        format!("agent:{}{}", self.id, self.delegated().map_or("", DelegatedContext::path))
    }

    #[inline]
    pub(crate) fn read_text(&self) -> &ReadText {
        &self.read_text
    }

    /// Returns whether a policy depends on the untrusted sources that the run has read.
    pub(crate) fn asks_what_was_read(&self) -> bool {
        let rules = &self.core.rules;
        (!rules.is_open() && rules.current().looks_at_what_was_read())
            || self.delegated().is_some_and(DelegatedContext::asks_what_was_read)
    }

    /// Returns the untrusted sources that the run has read, or an empty list if no policy depends on them; `None` if
    /// this process does not know all of them.
    pub(crate) fn known_sources(&self) -> Option<Arc<[String]>> {
        if self.asks_what_was_read() { self.read_text.sources() } else { Some(Arc::default()) }
    }

    /// Returns whether no rules apply: every call runs, unless its tool asks for approval.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.core.rules.is_open() && self.delegated().is_none_or(DelegatedContext::has_no_rules)
    }

    /// Makes the run to which the children of a call belong. A worker may carry the call out for a run of another
    /// process. The children then belong to that run, with the values that the journal has recorded of it.
    pub(crate) fn of_children(&self, lineage: &Arc<Lineage>) -> Self {
        let lineage = Arc::clone(lineage);
        let recorded = lineage.recorded.clone();
        let same = self.with_tools(Arc::clone(&self.ready));
        let of_parent = Self { lineage: Some(lineage), cancelled: None, ..same };
        let Some(recorded) = recorded.filter(|it| it.run != self.id) else { return of_parent };
        let values = RunValues { own: Arc::new([]), ..self.values.clone() };
        let RecordedParent { run: id, user, session, .. } = recorded;
        let (ended, retries) = Default::default();
        let read_text = Arc::new(ReadText::new(false));
        Self { id, user, session, values, is_own: true, ended, retries, read_text, ..of_parent }
    }

    /// Returns the facts about the parent of the run's calls; `None` if the calls have no parent.
    #[inline]
    pub(crate) fn lineage(&self) -> Option<&Lineage> {
        self.lineage.as_deref()
    }

    /// Returns whether calls of the run may use this tool.
    pub(crate) fn may_call(&self, tool: &str) -> bool {
        let recorded = self.lineage().and_then(|lineage| lineage.recorded.as_ref());
        let names = recorded.and_then(|recorded| recorded.may_call.as_ref());
        let is_later = || self.ready.is_pinned() && self.ready.plan(tool).is_none();
        names.is_none_or(|names| names.iter().any(|name| name == tool)) || is_later()
    }

    /// Returns the name by which the run can call a tool.
    pub(crate) fn name_of(&self, tool: Handle) -> Result<Arc<str>, ToolError> {
        let current = self.ready.current();
        let entries = current.tools().entries();
        let is_it = |it: &&Arc<Entry>| tool.is_of(it.spec);
        match entries.iter().find(is_it) {
            Some(entry) => Ok(Arc::clone(&entry.name)),
            None => Err(unknown(&current, tool.name())),
        }
    }

    /// Copies the run, with the tools of a catalog. For the catalog that was pinned last, the plans are reused.
    pub(crate) fn pinned(&self, catalog: &Catalog) -> Arc<Self> {
        let core = &self.core;
        let last = || core.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        let made_before = last().as_ref().filter(|ready| ready.catalog().is(catalog)).cloned();
        let ready = made_before.unwrap_or_else(|| {
            let ready = Arc::new(Ready::pinned(catalog, core));
            // The previous value is dropped after the lock is released.
            let _before = last().replace(Arc::clone(&ready));
            ready
        });
        Arc::new(self.with_tools(ready))
    }

    /// Returns a copy of the run for another user, to explain what the policy would decide for that user.
    pub(crate) fn with_user(&self, user: &str) -> Self {
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

    /// Uses up one of the run's retries. Returns `false` if none was left.
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

    /// Returns the tokens whose cancellation ends every call of the run. A child is cancelled together with its parent
    /// and never before it, so a parent does not continue with the answer of a child that was cancelled.
    pub(crate) fn cancellations(&self) -> impl Iterator<Item = &CancellationToken> {
        let of_parent = self.lineage().map(Lineage::ended);
        let own = of_parent.is_none().then(|| [Some(&self.core.released), self.cancelled.as_ref()]);
        own.into_iter().flatten().flatten().chain(of_parent)
    }

    pub(crate) fn own_cancellation(&self) -> Option<&CancellationToken> {
        self.cancelled.as_ref()
    }

    pub(crate) fn tell(&self, event: &ToolEvent<'_>) {
        event::tell(&self.core.listeners, event);
        if let Some(listener) = &self.listener {
            event::tell(listener.as_slice(), event);
        }
    }

    /// Returns whether any listener receives the events of the run's calls.
    #[inline]
    pub(super) fn is_heard(&self) -> bool {
        !self.core.listeners.is_empty() || self.listener.is_some()
    }
}

impl RunHandle for RunState {
    fn id(&self) -> &str {
        &self.id
    }

    fn cancellations(&self) -> [Option<&CancellationToken>; 2] {
        [Some(&self.core.released), self.cancelled.as_ref()]
    }

    fn progress(&self, progress: &Progress<'_>) {
        let Progress { call, provider_id, run, tool, digest, attempt, message, part } = *progress;
        let kind = ToolEventKind::Progress { message, part };
        let event = ToolEvent { call, provider_id, run, tool, digest, attempt, kind };
        self.tell(&event);
        if let Some(listener) = &self.progress {
            event::tell(listener.as_slice(), &event);
        }
    }

    fn permits(self: Arc<Self>, call: Call<'static>) -> BoxFuture<'static, Result<(), ToolError>> {
        self.core.nested.permits(Arc::clone(&self), call)
    }

    fn service(&self, id: TypeId) -> Option<&Value> {
        let provisions = &self.core.provisions;
        let place = |declared: &[DeclaredService]| declared.iter().position(|it| it.id == id);
        let run = place(&provisions.per_run).and_then(|index| self.values.own.get(index));
        let shared = || self.core.provided.services.get(place(&provisions.services)?);
        run.or_else(shared)
    }
}
