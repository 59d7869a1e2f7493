//! A run, which is one conversation: its id, its user, its services and its calls.

use std::any::TypeId;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tower_service::Service;

use super::Executor;
use super::calling::Calling;
use super::worker::Worker;
use crate::call::{Outcome, RunState};
use crate::catalog::Catalog;
use toolwright_core::call::Call;
use toolwright_core::context::RunHandle;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_core::output::Answer;
use toolwright_policy::policy::Explanation;

/// One conversation: the calls of one agent, one request or one command line. [`Executor::run`] makes a run. Cloning is
/// cheap, and a clone is the same run.
///
/// A run makes single calls with its own services and for its user ([`call`](Self::call), [`submit`](Self::submit)),
/// and answers whole turns of a model ([`turn`](Self::turn), [`submit_turn`](Self::submit_turn)). Its
/// [`worker`](Self::worker) carries out those of its calls that wait in a journal.
///
/// ```
/// use toolwright::{Call, Executor, Registry, tool};
///
/// struct Ticket(u32);
///
/// /// Tells the number of the ticket.
/// #[tool(effect = read)]
/// async fn tell_ticket(ticket: &Ticket) -> u32 {
///     ticket.0
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let executor = Executor::builder(Registry::of([TELL_TICKET])?).per_run::<Ticket>().build()?;
/// let run = executor.run("ticket-7").user("bob").with(Ticket(7)).start()?;
/// let turn = run.turn(1, &[Call::new("tell_ticket", "{}")]).await?;
/// assert_eq!(turn.answers()[0].text(), "7");
/// assert_eq!((run.id(), run.user()), ("ticket-7", Some("bob")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Run {
    pub(super) state: Arc<RunState>,
}

impl Run {
    /// Returns the id of the run, under which a journal records the run's calls.
    #[must_use]
    pub fn id(&self) -> &str {
        self.state.id()
    }

    /// Returns the user on whose behalf the run makes its calls.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.state.user()
    }

    /// Returns the session that the run belongs to.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.state.session()
    }

    /// Returns the tools that the run can call: the [pinned](Self::pinned) tools, or else the tools that are
    /// registered now.
    #[must_use]
    pub fn catalog(&self) -> Catalog {
        self.state.ready.current()
    }

    /// Returns the service of this type that tools of the run borrow: the run's own service, or else the executor's.
    ///
    /// ```
    /// use toolwright::{Executor, Registry};
    ///
    /// struct Ticket(u32);
    ///
    /// let executor = Executor::builder(Registry::empty()).per_run::<Ticket>().build()?;
    /// let run = executor.run("ticket-7").with(Ticket(7)).start()?;
    /// assert_eq!(run.service::<Ticket>().map(|it| it.0), Some(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn service<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&T> {
        let value = RunHandle::service(&*self.state, TypeId::of::<T>())?;
        value.downcast_ref::<Arc<T>>().map(Arc::as_ref)
    }

    /// Registers the tools that resolvers can list before a tool is called, as [`Executor::discover_tools`] does.
    ///
    /// # Errors
    /// As [`Executor::discover_tools`].
    pub async fn discover_tools(&self) -> Result<(), ToolError> {
        self.state.discover_tools().await
    }

    /// Pins the run to the tools of a catalog, as [`Executor::pinned`] pins an executor. Use it for the calls of a turn
    /// whose model was shown that catalog. The returned value is the same run: both share the run's end and its budget
    /// of retries.
    ///
    /// ```
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Tells the time.
    /// #[tool(effect = read)]
    /// async fn tell_time() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([TELL_TIME])?).build()?;
    /// let run = executor.run("ticket-7").start()?;
    /// let shown = run.catalog();
    /// executor.registry().unregister("tell_time")?;
    /// let call = Call::new("tell_time", "{}");
    /// assert!(run.call(&call).await.is_error());
    /// assert!(!run.pinned(&shown).call(&call).await.is_error());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn pinned(&self, catalog: &Catalog) -> Self {
        Self { state: self.state.pinned(catalog) }
    }

    /// Runs a call outside of turns and returns its answer, as [`Executor::call`] does, with the services of the run.
    #[inline]
    pub fn call<'a>(&'a self, call: &'a Call<'a>) -> Calling<'a> {
        Calling::new(&self.state, call)
    }

    /// Submits a call outside of turns, as [`Executor::submit`] does, with the services of the run.
    ///
    /// ```
    /// use toolwright::journal::{Journal, MemoryStore, State};
    /// use toolwright::{Call, Executor, OnNoApprover, Outcome, Registry, tool};
    ///
    /// /// Refunds an order.
    /// #[tool(effect = once, approval = "it sends money")]
    /// async fn refund() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let builder = Executor::builder(Registry::of([REFUND])?).unrestricted();
    /// let executor = builder.journal(Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Park)).build()?;
    /// let run = executor.run("ticket-7").user("bob").start()?;
    /// match run.submit(&Call::new("refund", "{}")).await {
    ///     Outcome::Suspended(waits) => assert_eq!(waits.state, State::Pending),
    ///     other => panic!("{other:?}"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn submit(&self, call: &Call<'_>) -> Outcome {
        self.state.submit(call).await
    }

    /// Explains what the policy decides on a call of this run, without running the call. Rules may depend on the run's
    /// user. See [`Executor::explain`].
    ///
    /// ```
    /// use toolwright::policy::{Policy, PolicyDecision, Rule};
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Tells the time.
    /// #[tool(effect = read, reads())]
    /// async fn tell_time() {}
    ///
    /// let no = Rule::deny("eve is a guest").named("guests").principal("eve");
    /// let policy = Policy::builder().rule(no);
    /// let executor = Executor::builder(Registry::of([TELL_TIME])?).policy(policy).build()?;
    /// let call = Call::new("tell_time", "{}");
    /// assert_eq!(executor.explain(&call)?.verdict, PolicyDecision::Allow);
    /// let run = executor.run("ticket-7").user("eve").start()?;
    /// assert_eq!(run.explain(&call)?.because(), ["guests"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the call would be refused before the policy evaluates it: an unknown tool, wrong input. No resolver is
    /// asked.
    pub fn explain(&self, call: &Call<'_>) -> Result<Explanation, ToolError> {
        self.state.explain(&self.state.core.rules, call)
    }

    /// Returns the facts that the policy would receive for a call of this run, without running the call. See
    /// [`Executor::examine`].
    ///
    /// ```
    /// use toolwright::{Call, Danger, Executor, Registry, tool};
    ///
    /// struct Ticket(u32);
    ///
    /// /// Tells the number of the ticket.
    /// #[tool(effect = read)]
    /// async fn tell_ticket(ticket: &Ticket) -> u32 {
    ///     ticket.0
    /// }
    ///
    /// let executor = Executor::builder(Registry::of([TELL_TICKET])?).per_run::<Ticket>().build()?;
    /// let call = Call::new("tell_ticket", "{}");
    /// assert!(executor.examine(&call).is_err(), "it needs the services of a run");
    /// assert_eq!(executor.run("ticket-7").with(Ticket(7)).start()?.examine(&call)?.danger, Danger::Safe);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the call would be refused before the policy evaluates it: an unknown tool, wrong input. No resolver is
    /// asked.
    pub fn examine(&self, call: &Call<'_>) -> Result<Facts, ToolError> {
        self.state.examine(call)
    }

    /// Checks a call by its tool's validation, without running the tool. See [`Executor::validate`].
    ///
    /// # Errors
    /// Those of [`examine`](Self::examine), and the error of the validation.
    pub async fn validate(&self, call: &Call<'_>) -> Result<(), ToolError> {
        self.state.validate(call).await
    }

    /// Records that the run has read untrusted text that no call returned, for instance as part of its prompt. Such
    /// text counts like an answer that is marked by [`Output::untrusted`](toolwright_core::output::Output::untrusted):
    /// policy rules with `after_untrusted` match the calls that follow.
    ///
    /// ```
    /// use toolwright::policy::{Policy, PolicyDecision, Rule};
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Sends a mail.
    /// #[tool(writes())]
    /// async fn send_mail(
    ///     /// To whom.
    ///     #[arg(sink)]
    ///     to: String,
    /// ) {
    /// }
    ///
    /// let rule = Rule::ask("foreign text may have asked for it").named("after-foreign").after_untrusted().sends();
    /// let policy = Policy::builder().mode(toolwright::policy::Mode::Unrestricted).rule(rule);
    /// let executor = Executor::builder(Registry::of([SEND_MAIL])?).policy(policy).build()?;
    /// let run = executor.run("ticket-7").start()?;
    /// let call = Call::new("send_mail", r#"{"to":"eve@example.org"}"#);
    /// assert_eq!(run.explain(&call)?.verdict, PolicyDecision::Allow);
    ///
    /// run.note_untrusted("mail of eve@example.org");
    /// let explained = run.explain(&call)?;
    /// assert_eq!(explained.because(), ["after-foreign"]);
    /// assert!(explained.to_string().contains("the run has read text of `mail of eve@example.org`; `to` leaves the machine"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn note_untrusted(&self, source: &str) {
        self.state.read_text().note_source(&toolwright_core::untrusted::line(source));
    }

    /// Lists the untrusted sources that the run has read; `None` if this process does not know all of them. A run in a
    /// journal may have read further sources in another process. The executor reads these from the journal before the
    /// first call that a rule evaluates by such sources.
    #[must_use]
    pub fn untrusted_sources(&self) -> Option<Vec<String>> {
        self.state.read_text().sources().map(|it| it.to_vec())
    }

    /// Returns the worker of this run; `None` if the executor has no journal. This worker [works](Worker::work) only on
    /// the calls of this run, and provides the run's services to them. [The executor's worker](Executor::worker) does
    /// not have these services.
    ///
    /// ```
    /// use toolwright::journal::{Journal, MemoryStore};
    /// use toolwright::{Executor, OnNoApprover, Registry};
    ///
    /// let builder = Executor::builder(Registry::empty());
    /// let executor = builder.journal(Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Park)).build()?;
    /// assert!(executor.run("ticket-7").start()?.worker().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn worker(&self) -> Option<Worker> {
        Worker::of(&self.state)
    }

    /// Returns an executor whose calls belong to this run, for use by a command line.
    #[doc(hidden)]
    pub fn as_executor(&self) -> Executor {
        Executor { state: Arc::clone(&self.state) }
    }
}

/// Implements `Service`, so that layers of `tower` can wrap a run as they wrap an [`Executor`].
impl Service<Call<'static>> for Run {
    type Response = Answer;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Answer, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call<'static>) -> Self::Future {
        let run = self.clone();
        Box::pin(async move { Ok(Run::call(&run, &call).await) })
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut run = formatter.debug_struct("Run");
        run.field("id", &self.id()).field("user", &self.user()).field("tools", &self.catalog());
        run.finish()
    }
}
