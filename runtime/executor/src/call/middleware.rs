//! The middleware of an application. Each middleware, also called a stage, examines every attempt of a call before the
//! attempt begins and after it has ended, no matter who made the call.

use std::any::TypeId;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use futures::future::{BoxFuture, ready};

use super::in_turn::Slot;
use super::plan::Plan;
use super::record::Watch;
use super::run_state::RunState;
use crate::event::ToolEventKind;
use toolwright_core::capability::{ProvidedValues, Source};
use toolwright_core::context::CallId;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::{Facts, Footprint};
use toolwright_core::output::Answer;
use toolwright_core::spec::Location;
use toolwright_core::tool::Definition;

/// A stage of an application, which runs before and after each attempt of a call. Add it with
/// [`ExecutorBuilder::middleware`](crate::executor::ExecutorBuilder::middleware).
///
/// A stage runs when the input has been read and the policy, or a person, allows the call. It runs for every kind of
/// call: single calls, calls of turns, resumed calls, calls of a worker, retries and typed commands, with and without a
/// journal. [`before`](Self::before) may take as long as an attempt of the tool, within what is left of the total
/// timeout. [`AfterCall::after`] may take as long as an attempt. If a stage panics or takes longer, the call is
/// answered `stage_failed`. If the call is abandoned, the future of the stage is dropped.
///
/// The call begins when every stage has let it continue. A call in a journal is claimed only then, so another process
/// may claim the call while the stages are running here. In that case, [`AfterCall::not_begun`] of these stages runs.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use futures::future::{BoxFuture, FutureExt as _};
/// use toolwright::{Middleware, MiddlewareCall, BeforeCall, Call, Executor, Registry, ToolError, tool};
///
/// /// Sends a letter.
/// #[tool(effect = once)]
/// async fn send() {}
///
/// /// Lets a number of calls through.
/// struct AtMost(AtomicU32);
///
/// impl Middleware for AtMost {
///     fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
///         async move {
///             match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
///                 Ok(_) => BeforeCall::Continue,
///                 Err(_) => BeforeCall::Refuse(ToolError::new("used_up", format!("no call of `{}` is left", call.definition().name))),
///             }
///         }
///         .boxed()
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let executor =
///     Executor::builder(Registry::of([SEND])?).unrestricted().middleware(AtMost(AtomicU32::new(1))).build()?;
/// assert!(!executor.call(&Call::new("send", "{}")).await.is_error());
/// assert_eq!(executor.call(&Call::new("send", "{}")).await.error().expect("refused").kind(), "used_up");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Middleware: Send + Sync + 'static {
    /// Examines a call that is allowed to run, before its tool begins.
    fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall>;
}

/// Implemented for `Arc`, so that an application can share a middleware, or choose one at run time.
impl<A: Middleware + ?Sized> Middleware for Arc<A> {
    fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        (**self).before(call)
    }
}

/// The decision of a stage about a call whose tool has not begun.
pub enum BeforeCall {
    /// The call continues with the next stage, or with its tool.
    Continue,
    /// The call continues. The value's [`after`](AfterCall::after) runs when the attempt has ended, or when a later
    /// stage has answered or refused the call. Its [`not_begun`](AfterCall::not_begun) runs if the attempt will not
    /// begin for another reason. If the attempt is dropped, the value is only dropped.
    Then(Box<dyn AfterCall>),
    /// The call gets this answer, and its tool does not run.
    Answer(Answer),
    /// The call does not run. If the error is of class [`NotStarted`](toolwright_core::error::ErrorClass::NotStarted)
    /// with a time, the call is only delayed. With a journal, the call is due again at that time, and a delay does not
    /// use up an attempt. Without a journal, the retry policy limits how often the call is tried again. Any other error
    /// is the answer of the call.
    Refuse(ToolError),
}

/// What a stage does during and after an attempt that it let continue. [`after`](Self::after) receives the answer of
/// the attempt, or the answer of a later stage. If there is neither, because the attempt did not begin,
/// [`not_begun`](Self::not_begun) runs instead. If the attempt is dropped, this value is only dropped, so release in
/// `Drop` what the stage holds for a call.
pub trait AfterCall: Send {
    /// Runs concurrently with the attempt, for instance to renew a lease, and is dropped when the attempt has ended.
    /// The default implementation does nothing.
    fn during(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    /// Examines the answer of the attempt or of a later stage before the answer is recorded, even if the answer is an
    /// error. If the total timeout ends before the tool begins, the answer is the error `timeout`. The stage may return
    /// another answer, which replaces the first one. The retry policy then decides by the new answer whether the call
    /// is tried again.
    fn after<'a>(
        self: Box<Self>,
        call: &'a MiddlewareCall<'a>,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>>;

    /// Runs if the attempt did not begin and will not begin: a later stage delayed the call or did not finish, another
    /// process claimed the call, the call was handed over or abandoned, or the executor refused to begin it. If the
    /// value is dropped without `after` and without this method, the attempt may have done its work. The default
    /// implementation only drops the value. An implementation must not block.
    fn not_begun(self: Box<Self>) {}
}

impl fmt::Debug for BeforeCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Continue => formatter.write_str("Continue"),
            Self::Then(_) => formatter.write_str("Then(..)"),
            Self::Answer(answer) => formatter.debug_tuple("Answer").field(answer).finish(),
            Self::Refuse(error) => formatter.debug_tuple("Refuse").field(error).finish(),
        }
    }
}

/// One attempt of a call, and the facts about the call, as a middleware receives them.
#[derive(Clone, Copy)]
pub struct MiddlewareCall<'a> {
    pub(crate) id: CallId,
    pub(crate) run: &'a str,
    pub(crate) user: Option<&'a str>,
    pub(crate) slot: Option<Slot>,
    pub(crate) definition: &'a Definition,
    pub(crate) fingerprint: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) footprint: &'a Footprint,
    pub(crate) attempt: u32,
    pub(crate) is_recorded: bool,
    pub(crate) inside: Inside<'a>,
}

/// Values of a call that a middleware does not see.
#[derive(Clone, Copy)]
pub(crate) struct Inside<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) run: &'a RunState,
    pub(crate) watch: Option<&'a Watch<'a>>,
}

impl<'a> MiddlewareCall<'a> {
    /// Returns the id of the call.
    #[must_use]
    pub fn id(&self) -> CallId {
        self.id
    }

    /// Returns the id of the call's run.
    #[must_use]
    pub fn run(&self) -> &'a str {
        self.run
    }

    /// Returns the user on whose behalf the call is made; `None` if the user is unknown.
    #[must_use]
    pub fn user(&self) -> Option<&'a str> {
        self.user
    }

    /// Returns the number of the call's turn; `None` for a call outside of turns.
    #[must_use]
    pub fn turn(&self) -> Option<u64> {
        self.slot.map(|slot| slot.turn)
    }

    /// Returns the index of the call in its turn, from zero; `None` for a call outside of turns.
    #[must_use]
    pub fn index(&self) -> Option<u32> {
        self.slot.map(|slot| slot.index)
    }

    /// Returns the definition of the call's tool.
    #[must_use]
    pub fn definition(&self) -> &'a Definition {
        self.definition
    }

    /// Returns the fingerprint of the tool's definition, in hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self) -> &'a str {
        self.fingerprint
    }

    /// Returns the final arguments of the call, as a JSON object: repaired, and with defaults. They may contain
    /// secrets.
    #[must_use]
    pub fn arguments(&self) -> &'a str {
        self.arguments
    }

    /// Returns what the call reads and writes. If the tool does not declare that, returns everything that the effect of
    /// the tool allows.
    #[must_use]
    pub fn footprint(&self) -> &'a Footprint {
        self.footprint
    }

    /// Returns the number of the attempt, from one. Attempts that did not begin have no number.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Reports whether a journal records the call.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    /// Returns the tool's function and the executor's services that it takes, or `None` if the tool also takes values
    /// of its run or of the call. Types for which `is_constant` returns true are ignored. If two calls have equal
    /// services and equal arguments, the same function starts from the same values, which is what a cache of answers
    /// needs to know.
    pub fn shared_services(&self, is_constant: impl Fn(TypeId) -> bool) -> Option<SharedServices> {
        let Plan { entry, wiring, .. } = self.inside.plan;
        let mut services = None;
        for (capability, source) in entry.spec.capabilities.iter().zip(&wiring.sources) {
            match source {
                _ if is_constant((capability.id)()) => {}
                Source::Executor(_) => {
                    services = Some(Arc::downgrade(&self.inside.run.core.provided));
                }
                _ => return None,
            }
        }
        let made = entry.body.is_some().then_some(entry.id);
        Some(SharedServices { location: entry.definition.location, made, services })
    }

    /// Notifies the listeners of the call's run of what the middleware did.
    pub fn notify(&self, kind: ToolEventKind<'_>) {
        if let Some(watch) = self.inside.watch {
            watch.tell(kind);
        }
    }
}

/// The function of a tool, and the services of one executor that the function takes. Two values are equal if both calls
/// run the same function, and if both use services of the same executor, or neither uses any. Run-time tools have the
/// same function only if they are one tool of one registry.
#[derive(Debug, Clone)]
pub struct SharedServices {
    /// The location of the tool's declaration, because two functions may have equal definitions.
    location: Location,
    /// The id of the entry of a run-time tool. Other run-time tools are made at the same location.
    made: Option<u64>,
    services: Option<Weak<ProvidedValues>>,
}

impl SharedServices {
    fn key(&self) -> (&str, &str, &str, u32, Option<u64>, Option<*const ProvidedValues>) {
        let Location { package, version, file, line, .. } = self.location;
        (package, version, file, line, self.made, self.services.as_ref().map(Weak::as_ptr))
    }
}

impl PartialEq for SharedServices {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for SharedServices {}

impl Hash for SharedServices {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// Omits the arguments, which may hold secrets.
impl fmt::Debug for MiddlewareCall<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MiddlewareCall")
            .field("id", &self.id)
            .field("run", &self.run)
            .field("tool", &self.definition.name)
            .field("slot", &self.slot)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

/// Returns what a call touches. For an executor with middleware, the footprint is computed before the middleware runs.
pub(crate) fn touched<'a>(facts: &'a Facts, plan: &Plan) -> &'a Footprint {
    let undeclared = || Footprint::of_effect(plan.entry.definition.effect);
    facts.touches().unwrap_or_else(undeclared)
}

/// The stages of an executor, in the order in which its builder received them.
pub(super) type Middlewares = Box<[Arc<dyn Middleware>]>;
