//! Stages of an application: they see every attempt of every call before it begins and when it has ended, whichever way the
//! call arrives.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Either, select};

use super::{ExecutorBuilder, Plan, RunState};
use crate::stage::{self, given_up, in_time};
use toolwright_core::call::Call;
use toolwright_core::context::CallId;
use toolwright_core::error::{Class, Done, ToolError};
use toolwright_core::footprint::Footprint;
use toolwright_core::output::Answer;
use toolwright_core::tool::Definition;

/// A stage of an application: runs before and after each attempt of a call, for every call of an executor, added with
/// [`ExecutorBuilder::around`](crate::executor::ExecutorBuilder::around).
///
/// A stage runs when the input was read and the policy, or a person, allows the call. It runs for calls, turns, calls that
/// are resumed, calls of a worker, retries and typed commands, with a journal and without. It has the time that an attempt
/// of the tool has, and is dropped when the call is given up.
///
/// Until every stage has let the call through, the call has not begun: with a journal, it is claimed after that. So one
/// process may lose the call to another while its stages are at work. Their [`After`] is dropped then.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use futures::future::{BoxFuture, FutureExt as _};
/// use toolwright::{Around, AroundCall, Before, Call, Executor, Registry, ToolError, tool};
///
/// /// Sends a letter.
/// #[tool(effect = once)]
/// async fn send() {}
///
/// /// Lets a number of calls through.
/// struct AtMost(AtomicU32);
///
/// impl Around for AtMost {
///     fn before<'a>(&'a self, call: &'a AroundCall<'a>) -> BoxFuture<'a, Before> {
///         async move {
///             match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
///                 Ok(_) => Before::GoOn,
///                 Err(_) => Before::Refuse(ToolError::new("used_up", format!("no call of `{}` is left", call.tool().name))),
///             }
///         }
///         .boxed()
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let executor =
///     Executor::builder(Registry::of([SEND])?).unrestricted().around(AtMost(AtomicU32::new(1))).build()?;
/// assert!(!executor.call(&Call::new("send", "{}")).await.is_error());
/// assert_eq!(executor.call(&Call::new("send", "{}")).await.error().expect("refused").kind(), "used_up");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Around: Send + Sync + 'static {
    /// Looks at a call that may run and has not begun.
    fn before<'a>(&'a self, call: &'a AroundCall<'a>) -> BoxFuture<'a, Before>;
}

/// What a stage wants of a call that has not begun.
pub enum Before {
    /// The call goes on.
    GoOn,
    /// The call goes on. The value is called when the attempt has ended, or dropped where it does not come to that.
    Then(Box<dyn After>),
    /// The call is answered, and its tool does not run.
    Answer(Answer),
    /// The call does not run. An error of class [`NotStarted`](Class::NotStarted) with a time only delays it: with a
    /// journal it is due again then, which uses up no attempt however often it happens; without one it is tried again as
    /// far as the retry policy goes. Any other error is the answer.
    Refuse(ToolError),
}

/// What a stage does when an attempt that it let through has ended.
pub trait After: Send {
    /// Looks at the answer of the attempt, also where that is an error, before it is recorded; returns the answer that takes
    /// its place, where one does.
    fn after<'a>(
        self: Box<Self>,
        call: &'a AroundCall<'a>,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>>;
}

impl fmt::Debug for Before {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GoOn => formatter.write_str("GoOn"),
            Self::Then(_) => formatter.write_str("Then(..)"),
            Self::Answer(answer) => formatter.debug_tuple("Answer").field(answer).finish(),
            Self::Refuse(error) => formatter.debug_tuple("Refuse").field(error).finish(),
        }
    }
}

/// A call as stages see it: one attempt, with what is known of it.
#[derive(Clone, Copy)]
pub struct AroundCall<'a> {
    pub(crate) id: CallId,
    pub(crate) run: &'a str,
    pub(crate) user: Option<&'a str>,
    pub(crate) slot: Option<(u64, u32)>,
    pub(crate) definition: &'a Definition,
    pub(crate) fingerprint: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) footprint: Option<&'a Footprint>,
    pub(crate) attempt: u32,
    pub(crate) is_recorded: bool,
}

impl<'a> AroundCall<'a> {
    /// The id of the call.
    #[must_use]
    pub fn id(&self) -> CallId {
        self.id
    }

    /// The id of its run. Calls that are made on the executor itself share a run.
    #[must_use]
    pub fn run(&self) -> &'a str {
        self.run
    }

    /// On whose behalf it is made, where that is known.
    #[must_use]
    pub fn user(&self) -> Option<&'a str> {
        self.user
    }

    /// Its turn, where it is a call of one.
    #[must_use]
    pub fn turn(&self) -> Option<u64> {
        self.slot.map(|(turn, _)| turn)
    }

    /// Its place in its turn, from zero, where it is a call of one.
    #[must_use]
    pub fn index(&self) -> Option<u32> {
        self.slot.map(|(_, index)| index)
    }

    /// The definition of its tool.
    #[must_use]
    pub fn tool(&self) -> &'a Definition {
        self.definition
    }

    /// The fingerprint of its tool's definition, as hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self) -> &'a str {
        self.fingerprint
    }

    /// Its final arguments, as a JSON object: repaired, with defaults. They may hold secrets.
    #[must_use]
    pub fn arguments(&self) -> &'a str {
        self.arguments
    }

    /// What it reads and writes, as far as its tool says.
    #[must_use]
    pub fn footprint(&self) -> Option<&'a Footprint> {
        self.footprint
    }

    /// The number of the attempt, from one. Attempts that did not begin are not counted.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Whether a journal records the call.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.is_recorded
    }
}

/// Without the arguments, which may hold secrets.
impl fmt::Debug for AroundCall<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AroundCall")
            .field("id", &self.id)
            .field("run", &self.run)
            .field("tool", &self.definition.name)
            .field("slot", &self.slot)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

impl ExecutorBuilder {
    /// Adds a stage, which sees every call before it begins and when it has ended. Stages look at a call in the order in which
    /// they were added, and at its answer in reverse. See [`Around`].
    ///
    /// Calls of an executor with stages are a little slower: their arguments are made final, and their footprint computed,
    /// before they are read by the tool.
    #[must_use]
    pub fn around(mut self, stage: impl Around) -> Self {
        self.around.push(Arc::new(stage));
        self
    }
}

/// The stages of an executor, in the order of its builder.
pub(crate) type Arounds = Box<[Arc<dyn Around>]>;

/// What the stages that let a call through do afterwards, in their order. Dropped, none of it happens.
#[derive(Default)]
pub(crate) struct Entered(Mutex<Vec<Box<dyn After>>>);

/// Why a call does not run.
#[derive(Debug)]
pub(crate) enum Turned {
    Answered(Answer),
    Refused(ToolError),
}

impl From<Turned> for Answer {
    fn from(turned: Turned) -> Self {
        match turned {
            Turned::Answered(answer) => answer,
            Turned::Refused(error) => error.into(),
        }
    }
}

/// Lets the stages look at a call that has not begun. Those that let it through are left, in reverse, where a later one does
/// not.
pub(crate) async fn enter(
    run: &RunState,
    plan: &Plan,
    call: &Call<'_>,
    about: &AroundCall<'_>,
) -> Result<Entered, Turned> {
    let mut entered = Entered::default();
    for around in &run.core.around {
        let before = AssertUnwindSafe(async { around.before(about).await }).catch_unwind();
        let before = in_time(call.name(), plan.timeout, before);
        let turned = match select(std::pin::pin!(before), std::pin::pin!(given_up(run, call))).await
        {
            Either::Left((Ok(Ok(Before::GoOn)), _)) => continue,
            Either::Left((Ok(Ok(Before::Then(after))), _)) => {
                entered.afters().push(after);
                continue;
            }
            Either::Left((Ok(Ok(Before::Answer(answer))), _)) => Turned::Answered(answer),
            Either::Left((Ok(Ok(Before::Refuse(error))), _)) => Turned::Refused(error),
            Either::Left((Ok(Err(panic)), _)) => {
                let cause = stage::panicked(call.name(), panic);
                Turned::Refused(
                    stage_failed(call.name(), "failed because of a defect in it").caused_by(cause),
                )
            }
            Either::Left((Err(_), _)) => {
                let time = plan.timeout.unwrap_or_default();
                Turned::Refused(stage_failed(call.name(), &format!("took longer than {time:?}")))
            }
            Either::Right(_) => Turned::Refused(
                crate::lifecycle::words::cancelled(call.name()).by_executor(Done::NotBegun),
            ),
        };
        let answer = match turned {
            Turned::Answered(answer) => answer,
            Turned::Refused(error) if delay_of(&error).is_some() || error.done().is_some() => {
                return Err(Turned::Refused(error));
            }
            Turned::Refused(error) => error.into(),
        };
        return Err(Turned::Answered(entered.leave(plan, call, about, answer).await));
    }
    Ok(entered)
}

/// For how long a stage delays a call with this error, where it does.
pub(crate) fn delay_of(error: &ToolError) -> Option<Duration> {
    match error.classified() {
        Class::NotStarted { retry_after } => retry_after,
        _ => None,
    }
}

fn stage_failed(tool: &str, how: &str) -> ToolError {
    ToolError::new(
        "stage_failed",
        format!("`{tool}` was not run: a stage of the application {how}"),
    )
    .class(Class::NotStarted { retry_after: None })
    .hint("go on without it")
}

impl Entered {
    fn afters(&mut self) -> &mut Vec<Box<dyn After>> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no stage does anything afterwards.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The answer that the stages make of the answer of an attempt, the last first.
    pub(crate) async fn leave(
        self,
        plan: &Plan,
        call: &Call<'_>,
        about: &AroundCall<'_>,
        mut answer: Answer,
    ) -> Answer {
        let afters = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        for after in afters.into_iter().rev() {
            let left = AssertUnwindSafe(async { after.after(about, &answer).await }).catch_unwind();
            match in_time(call.name(), plan.timeout, left).await {
                Ok(Ok(Some(other))) => answer = other,
                Ok(Ok(None)) => {}
                Ok(Err(panic)) => {
                    let error = stage::panicked(call.name(), panic);
                    tracing::error!(call = %about.id, tool = call.name(), cause = ?error.source().map(ToString::to_string), "a stage panicked after the call");
                }
                Err(_) => {
                    tracing::error!(call = %about.id, tool = call.name(), "a stage took longer than the tool may, after the call");
                }
            }
        }
        answer
    }
}
