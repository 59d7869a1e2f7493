//! One call from end to end, stage after stage. Every call gets exactly one answer.

mod builder;
mod calling;
mod claim;
mod gate;
mod journal_config;
mod journal_options;
mod outcome;
mod own;
mod plan;
mod problem;
mod ready;
mod resolve;
mod retrying;
mod rules;
mod run;
mod service;
mod turn;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use toolwright_core::call::Call;
use toolwright_core::capability::Scope;

use crate::catalog::Catalog;
use crate::registry::Registry;
use crate::stage;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Facts;
use toolwright_policy::policy::Undeclared;
use toolwright_policy::policy::{Explanation, Policy, PolicyBuilder, PolicyError};

pub use crate::lifecycle::Swept;
pub use builder::ExecutorBuilder;
pub use calling::Calling;
pub use journal_config::OnNoApprover;
pub use outcome::{CallFailure, Outcome, Suspended};
pub use problem::{BuildError, BuildProblem};
pub use resolve::Resolver;
pub use run::{MissingServices, RunBuilder};
pub use service::Drained;
pub use turn::TurnAnswers;

pub(crate) use builder::Core;
pub(crate) use calling::Stages;
pub(crate) use claim::Claim;
pub(crate) use gate::{Closed, Gate, Pass};
pub(crate) use journal_config::{
    Asker, Asking as AskingMark, JournalConfig, LOCAL_APPROVER, later,
};
pub(crate) use own::{identity_of, own_of};
pub(crate) use plan::Plan;
pub(crate) use ready::Ready;
pub(crate) use retrying::{PATIENCE, random};
pub(crate) use rules::{About, Rules};
pub(crate) use run::Run;

/// Runs calls. Cheap to clone; a clone is the same executor.
///
/// ```
/// use toolwright::{Call, Executor, Registry, tool};
///
/// /// Greets somebody.
/// #[tool(effect = read)]
/// async fn greet(
///     greeting: &Greeting,
///     /// Whom.
///     name: String,
/// ) -> String {
///     format!("{}, {name}!", greeting.0)
/// }
///
/// struct Greeting(&'static str);
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let executor = Executor::builder(Registry::of([GREET])?).unrestricted().service(Greeting("Hello")).build()?;
/// let answer = executor.call(&Call::new("greet", r#"{"name":"Ada"}"#)).await;
/// assert_eq!(answer.text(), "Hello, Ada!");
///
/// let answer = executor.call(&Call::new("greet", r#"{"nam":"Ada"}"#)).await;
/// assert_eq!(answer.error().expect("refused").kind(), "invalid_input");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Executor {
    pub(crate) run: Arc<Run>,
}

impl Executor {
    /// An executor of these tools.
    pub fn builder(registry: Registry) -> ExecutorBuilder {
        ExecutorBuilder::new(registry)
    }

    /// The registry that it follows.
    pub fn registry(&self) -> &Registry {
        &self.run.core.registry
    }

    /// The tools that it runs: those that are pinned, or else those that can be called now.
    pub fn catalog(&self) -> Catalog {
        self.run.ready.current()
    }

    /// Pins the executor to the tools of a catalog: later changes of the registry do not reach its calls. Use it for
    /// the calls of a turn whose model was shown that catalog. The new executor shares services, limits and the drain
    /// with this one. A tool that a resolver brings can still be called where the catalog's profile selects it.
    ///
    /// To pin the same catalog again costs little. A tool that needs what the executor has not got
    /// answers so when it is called; [`missing`](Self::missing) tells it before.
    pub fn pinned(&self, catalog: &Catalog) -> Self {
        let core = &self.run.core;
        let last = || core.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = last().as_ref().filter(|ready| ready.catalog().is(catalog)).cloned();
        let ready = kept.unwrap_or_else(|| {
            let ready = Arc::new(Ready::pinned(catalog, core));
            // What was pinned before is dropped after the lock has been given back.
            let _before = last().replace(Arc::clone(&ready));
            ready
        });
        Self { run: Arc::new(self.run.with_tools(ready)) }
    }

    /// What tools of a catalog need and this executor does not provide. Their calls are refused.
    ///
    /// ```
    /// use toolwright::{Executor, Registry, tool};
    ///
    /// struct Clock;
    ///
    /// /// Tells the time.
    /// #[tool(effect = read)]
    /// async fn tell_time(clock: &Clock) {
    ///     let _ = clock;
    /// }
    ///
    /// let executor = Executor::builder(Registry::empty()).unrestricted().build()?;
    /// executor.registry().register(TELL_TIME)?;
    /// let [problem] = &*executor.missing(&executor.catalog()) else { panic!("the clock is missing") };
    /// assert!(problem.to_string().contains("`tell_time`"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn missing(&self, catalog: &Catalog) -> Vec<BuildProblem> {
        let core = &self.run.core;
        let plans = catalog.tools().entries().iter().map(|entry| core.plan(entry));
        plans.flat_map(|plan| plan.lacks.to_vec()).collect()
    }

    /// A run of its own: with an id, and the services that only it has.
    pub fn run(&self, id: impl Into<String>) -> RunBuilder {
        RunBuilder::new(&self.run, id.into())
    }

    /// Runs a call and gives its one answer. Whatever goes wrong is in the answer: an unknown
    /// tool, input that is not what the schema asks for, a panic, a time-out, a cancellation.
    ///
    /// Where a journal is kept and a person has to decide, it waits for them. A host that would rather be told
    /// so takes [`submit`](Self::submit) or [`submit_turn`](Self::submit_turn).
    ///
    /// Dropping the future drops the tool's future with it, and listeners hear `Abandoned`. In a journal, what had not
    /// begun of the call is cancelled: whoever made it is gone, and may make it again.
    #[inline]
    pub fn call<'a>(&'a self, call: &'a Call<'a>) -> Calling<'a> {
        Calling::new(&self.run, call)
    }

    /// Explains what the policy decides on a call, without running it. It does not look at decisions of people or at
    /// grants.
    ///
    /// # Errors
    /// When the call would be refused before policy: an unknown tool, wrong input. No resolver is asked.
    pub fn explain(&self, call: &Call<'_>) -> Result<Explanation, ToolError> {
        self.explained(&self.run.core.rules, call)
    }

    /// Explains what another policy, made by [`make_policy`](Self::make_policy), would decide, before it is put into
    /// use.
    ///
    /// # Errors
    /// As [`explain`](Self::explain).
    pub fn explain_by(&self, policy: &Policy, call: &Call<'_>) -> Result<Explanation, ToolError> {
        self.explained(&Rules::of(policy.clone()), call)
    }

    fn explained(&self, rules: &Rules, call: &Call<'_>) -> Result<Explanation, ToolError> {
        let found = stage::find(&self.run, call.name())?;
        let plan = found.plan();
        let own = own_of(&self.run, plan, call, None)?;
        let scope = Scope::new(&self.run.values, &plan.wiring, call, own.as_ref());
        let settle = AssertUnwindSafe(|| stage::finalize(rules, plan, scope, call.arguments()));
        let settled = catch_unwind(settle);
        let (facts, settled) =
            settled.unwrap_or_else(|panic| Err(stage::panicked(call.name(), panic)))?;
        let about = About { plan, facts: &facts, user: self.run.user(), accepted: false };
        Ok(rules.explain(about, settled.arguments()))
    }

    /// A policy for the tools of this executor, which knows its journal and its workspace roots. The executor keeps its
    /// own: this one is for [`explain_by`](Self::explain_by).
    ///
    /// ```
    /// use toolwright::policy::{Policy, Rule, PolicyDecision};
    /// use toolwright::{Call, Executor, Registry, tool};
    ///
    /// /// Tells the time.
    /// #[tool(effect = read, reads())]
    /// async fn tell_time() {}
    ///
    /// let executor = Executor::builder(Registry::of([TELL_TIME])?).build()?;
    /// let call = Call::new("tell_time", "{}");
    /// assert_eq!(executor.explain(&call)?.verdict, PolicyDecision::Allow);
    ///
    /// let no = Rule::deny("nobody is to know").named("no").tool("tell_time");
    /// let other = executor.make_policy(Policy::builder().rule(no))?;
    /// assert_eq!(executor.explain_by(&other, &call)?.because(), ["no"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When something in it is wrong: every problem.
    pub fn make_policy(&self, policy: PolicyBuilder) -> Result<Policy, PolicyError> {
        let core = &self.run.core;
        core.rules.another(policy, &core.registry.catalog())
    }

    /// Copies the executor, which then makes its calls for this user.
    #[doc(hidden)]
    pub fn on_behalf_of(&self, user: &str) -> Self {
        Self { run: Arc::new(self.run.with_user(user)) }
    }

    /// The tools that a person will be asked about because they do not say which files they touch, by the policy as it
    /// is now; for a test that there are none.
    ///
    /// ```
    /// use toolwright::{Executor, Registry, tool};
    ///
    /// /// Adds an entry to the account.
    /// #[tool(effect = once)]
    /// async fn add_entry() {}
    ///
    /// /// Closes the account.
    /// #[tool(effect = once, writes())]
    /// async fn close_account() {}
    ///
    /// let executor = Executor::builder(Registry::of([ADD_ENTRY, CLOSE_ACCOUNT])?).build()?;
    /// let found: Vec<String> = executor.lint().iter().map(ToString::to_string).collect();
    /// assert_eq!(
    ///     found,
    ///     ["`add_entry` does not say what it writes: add `writes()`, or list it under `touches_no_files` of the policy"]
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn lint(&self) -> Vec<Undeclared> {
        self.policy().lint(&self.catalog())
    }

    /// The policy as it is now.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.run.core.rules.current()
    }

    /// Reloads the files of the policy. The new policy applies to every call that is evaluated from now on; a call that
    /// a person has approved is evaluated again before it runs.
    ///
    /// The executor never reloads them by itself, because then an agent that can write the file could change the
    /// policy.
    ///
    /// # Errors
    /// When they have a mistake, or would plan calls without a journal; the old policy stays.
    pub fn reload_policy(&self) -> Result<(), PolicyError> {
        let core = &self.run.core;
        core.rules.reload(&core.registry.catalog(), core.journal.is_some())
    }

    /// What policy would know of a call, without running it: its danger, whether it asks a person,
    /// what it touches.
    ///
    /// # Errors
    /// When the call would be refused before policy: an unknown tool, wrong input. No resolver is asked.
    pub fn examine(&self, call: &Call<'_>) -> Result<Facts, ToolError> {
        let found = stage::find(&self.run, call.name())?;
        let plan = found.plan();
        let own = own_of(&self.run, plan, call, None)?;
        let scope = Scope::new(&self.run.values, &plan.wiring, call, own.as_ref());
        let read = AssertUnwindSafe(|| {
            let mut facts = plan.facts();
            facts.ask_for_footprint(plan.entry.definition.effect);
            let _unpolled = stage::read(plan, scope, call.arguments(), &mut facts)?;
            plan.judged(&mut facts);
            Ok(facts)
        });
        catch_unwind(read).unwrap_or_else(|panic| Err(stage::panicked(call.name(), panic)))
    }
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Executor")
            .field("run", &self.run.id())
            .field("tools", &self.catalog())
            .finish()
    }
}

/// How long an attempt may take whose tool does not say.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How many calls an executor runs at once.
pub(crate) const DEFAULT_LIMIT: u32 = 16;
