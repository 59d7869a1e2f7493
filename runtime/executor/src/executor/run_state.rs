//! What the calls of one run share: the core of their executor, tools, services, user, and whether the run goes on.

use std::any::TypeId;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};
use toolwright_core::error_kind;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Ready;
use super::core::Core;
use super::foreign::ReadText;
use super::nested::{DelegatedContext, Lineage, RecordedParent};
use crate::catalog::Catalog;
use crate::event::{self, Listener, ToolEvent, ToolEventKind};
use crate::lifecycle::Refusal;
use crate::registry::Entry;
use crate::stage;
use toolwright_core::call::Call;
use toolwright_core::capability::{DeclaredService, RunValues, Value};
use toolwright_core::context::{Progress, RunHandle};
use toolwright_core::error::ToolError;
use toolwright_core::spec::Handle;
use toolwright_policy::policy::PolicyDecision;

/// The state of a run. Calls that are made on the executor itself belong to a run that it makes when it is built.
pub(crate) struct RunState {
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
    /// Receives the progress of its calls, beside the listeners of the executor.
    progress: Option<Arc<[Listener; 1]>>,
    /// Receives every event of its calls.
    listener: Option<Arc<[Listener; 1]>>,
    /// The call that makes its calls, where one does.
    lineage: Option<Arc<Lineage>>,
    /// What its calls have from the agents on whose behalf they are made, where they are not made by the run itself.
    delegated: Option<Arc<DelegatedContext>>,
    /// What it has read of strangers, its agents and all calls that its calls make included.
    read_text: Arc<ReadText>,
}

/// Who makes the calls of a run, and until when.
#[derive(Default)]
pub(super) struct Requester {
    pub(super) cancelled: Option<CancellationToken>,
    pub(super) user: Option<Arc<str>>,
    pub(super) session: Option<Arc<str>>,
    pub(super) progress: Option<Arc<[Listener; 1]>>,
    pub(super) listener: Option<Arc<[Listener; 1]>>,
}

impl RunState {
    /// The run of calls that are made on the executor itself; it has no services of its own.
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
            progress: None,
            listener: None,
            lineage: None,
            delegated: None,
            read_text: Arc::new(ReadText::new(true)),
        }
    }

    /// Registers what resolvers name before anyone calls it.
    pub(super) async fn discover_tools(&self) -> Result<(), ToolError> {
        match &self.core.resolving {
            Some(resolving) => resolving.announce(&self.core.registry).await,
            None => Ok(()),
        }
    }

    /// A run that an application starts.
    pub(super) fn started(
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
        // One that a journal records may have read more in another process.
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
            progress: self.progress.clone(),
            listener: self.listener.clone(),
            lineage: self.lineage.clone(),
            delegated: self.delegated.clone(),
            read_text: Arc::clone(&self.read_text),
        }
    }

    /// Copies the run, whose calls are made on behalf of an agent then.
    pub(super) fn on_behalf_of(
        &self,
        delegated: DelegatedContext,
        listener: Option<Listener>,
    ) -> Self {
        let same = self.with_tools(Arc::clone(&self.ready));
        let listener = listener.map(|listener| Arc::new([listener])).or(same.listener);
        // What was reported of the calls of the run is not of these.
        Self { delegated: Some(Arc::new(delegated)), listener, progress: None, ..same }
    }

    /// Copies the run, which goes on on behalf of another agent.
    pub(super) fn handed_to(&self, delegated: DelegatedContext) -> Self {
        let same = self.with_tools(Arc::clone(&self.ready));
        Self { delegated: Some(Arc::new(delegated)), ..same }
    }

    /// What the calls of the run have from the agents on whose behalf they are made.
    #[inline]
    pub(crate) fn delegated(&self) -> Option<&DelegatedContext> {
        self.delegated.as_deref()
    }

    /// Who makes its calls, as approvers are shown it: `agent:<run>`, and behind it the names of the agents that the run has
    /// given its task to.
    pub(crate) fn requester(&self) -> String {
        format!("agent:{}{}", self.id, self.delegated().map_or("", DelegatedContext::path))
    }

    /// What the run has read of strangers.
    #[inline]
    pub(crate) fn read_text(&self) -> &ReadText {
        &self.read_text
    }

    /// Whether a policy asks what the run has read of strangers.
    pub(crate) fn asks_what_was_read(&self) -> bool {
        let rules = &self.core.rules;
        (!rules.is_open() && rules.current().looks_at_what_was_read())
            || self.delegated().is_some_and(DelegatedContext::asks_what_was_read)
    }

    /// The sources of what the run has read of strangers, where a policy asks for them; nothing where this process does not know
    /// them.
    pub(crate) fn known_sources(&self) -> Option<Arc<[String]>> {
        if self.asks_what_was_read() { self.read_text.sources() } else { Some(Arc::default()) }
    }

    /// Whether every call runs that its tool does not want approved: no rules are asked.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.core.rules.is_open() && self.delegated().is_none_or(DelegatedContext::has_no_rules)
    }

    /// The run in which a call makes its calls. Where a worker carries the call out for another run than its own, it is that
    /// run, as far as the journal knows it.
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

    /// What the calls of the run have from the call that makes them; nothing where they are made from outside.
    #[inline]
    pub(crate) fn lineage(&self) -> Option<&Lineage> {
        self.lineage.as_deref()
    }

    /// Whether its calls may be of this tool: a call that is carried out elsewhere than it was made can call what its run
    /// could call. A tool that a pinned run has found since is in no list, and is no tool of the pinned catalog either.
    pub(crate) fn may_call(&self, tool: &str) -> bool {
        let recorded = self.lineage().and_then(|lineage| lineage.recorded.as_ref());
        let names = recorded.and_then(|recorded| recorded.may_call.as_ref());
        let is_later = || self.ready.is_pinned() && self.ready.plan(tool).is_none();
        names.is_none_or(|names| names.iter().any(|name| name == tool)) || is_later()
    }

    /// The name under which it has a tool.
    pub(crate) fn name_of(&self, tool: Handle) -> Result<Arc<str>, ToolError> {
        let current = self.ready.current();
        let entries = current.tools().entries();
        let is_it = |it: &&Arc<Entry>| tool.is_of(it.spec);
        match entries.iter().find(is_it) {
            Some(entry) => Ok(Arc::clone(&entry.name)),
            None => Err(stage::unknown(self, tool.name())),
        }
    }

    /// Copies the run, with the tools of a catalog. To pin the same catalog again finds the plans that were made before.
    pub(super) fn pinned(&self, catalog: &Catalog) -> Arc<Self> {
        let core = &self.core;
        let last = || core.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        let made_before = last().as_ref().filter(|ready| ready.catalog().is(catalog)).cloned();
        let ready = made_before.unwrap_or_else(|| {
            let ready = Arc::new(Ready::pinned(catalog, core));
            // What was pinned before is dropped after the lock has been given back.
            let _before = last().replace(Arc::clone(&ready));
            ready
        });
        Arc::new(self.with_tools(ready))
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

    /// The tokens whose cancellation ends every call of the run. A call that another makes ends with that one, and not
    /// before: a parent never goes on with the answer of a child that was cancelled with it.
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

    /// Whether a listener hears of its calls.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
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

    fn service(&self, id: TypeId) -> Option<&Value> {
        let provisions = &self.core.provisions;
        let place = |declared: &[DeclaredService]| declared.iter().position(|it| it.id == id);
        let run = place(&provisions.per_run).and_then(|index| self.values.own.get(index));
        let shared = || self.core.provided.services.get(place(&provisions.services)?);
        run.or_else(shared)
    }

    fn permits(self: Arc<Self>, call: Call<'static>) -> BoxFuture<'static, Result<(), ToolError>> {
        Box::pin(async move {
            drop(stage::seek(&self, &call).await?);
            self.read_sources(call.name()).await?;
            let refusal = match self.explain(&self.core.rules, &call)?.verdict {
                PolicyDecision::Deny { reason } => Refusal::Denied(reason),
                PolicyDecision::Queue => Refusal::CannotBePlanned,
                // A grant may have answered for the tool that makes the call.
                PolicyDecision::Ask { reasons, grants_count: false } => {
                    let words = format!(
                        "a person decides on each call of `{}`: {}",
                        call.name(),
                        reasons.join("; ")
                    );
                    let hint = format!("call `{}` itself", call.name());
                    return Err(ToolError::new(error_kind::APPROVAL_REQUIRED, words).hint(hint));
                }
                _ => return Ok(()),
            };
            Err(refusal.error(call.name(), &self.id))
        })
    }
}
