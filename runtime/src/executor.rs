//! One call from end to end, stage after stage. Every call gets exactly one answer.

mod builder;
mod gate;
mod run;
mod service;

use std::borrow::Borrow;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use tracing::Instrument;

use crate::call::Call;
use crate::capability::Scope;
use crate::error::ToolError;
use crate::footprint::Facts;
use crate::output::Answer;
use crate::registry::{Entry, Registry};
use crate::stage::{self, record};

pub use builder::{BuildError, BuildProblem, ExecutorBuilder};
pub use run::{MissingServices, RunBuilder};
pub use service::Drained;

pub(crate) use builder::{Core, Plan};
pub(crate) use gate::{Closed, Gate, Pass};
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
/// let answer = executor.call(Call::new("greet", r#"{"name":"Ada"}"#)).await;
/// assert_eq!(answer.text(), "Hello, Ada!");
///
/// let answer = executor.call(Call::new("greet", r#"{"nam":"Ada"}"#)).await;
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

    /// The tools that it runs.
    pub fn registry(&self) -> &Registry {
        &self.run.core.registry
    }

    /// A run of its own: with an id, and the services that only it has.
    pub fn run(&self, id: impl Into<String>) -> RunBuilder {
        RunBuilder::new(&self.run.core, id.into())
    }

    /// Runs a call and gives its one answer. Whatever goes wrong is in the answer: an unknown
    /// tool, input that is not what the schema asks for, a panic, a time-out, a cancellation.
    ///
    /// The call may be given as itself or by reference. Dropping the future drops the tool's future
    /// with it, and listeners hear `Abandoned`.
    pub async fn call<'a>(&self, call: impl Borrow<Call<'a>>) -> Answer {
        let call = call.borrow();
        if record::is_wanted(&self.run) {
            return Box::pin(self.recorded(call)).await;
        }
        self.stages(call, None).await
    }

    /// The same under the eyes of listeners and tracing.
    async fn recorded(&self, call: &Call<'_>) -> Answer {
        let span = record::span(&self.run, call);
        let watch = record::Watch::start(&self.run, call);
        let answer = self.stages(call, watch.as_ref()).instrument(span.clone()).await;
        record::conclude(&span, &self.run, call, &answer);
        if let Some(watch) = watch {
            watch.end(&answer);
        }
        answer
    }

    /// What policy would know of a call, without running it: its danger, whether it asks a person,
    /// what it touches.
    ///
    /// # Errors
    /// When the call would be refused before policy: an unknown tool, wrong input.
    pub fn examine(&self, call: &Call<'_>) -> Result<Facts, ToolError> {
        let (entry, plan) = stage::find(&self.run.core, call.name())?;
        let facts = plan.facts().with_footprint(entry.definition.effect);
        let scope = Scope::new(&self.run, plan, call, None)?;
        let read = AssertUnwindSafe(|| stage::read(entry, &scope, call.arguments(), facts));
        let read = catch_unwind(read).map_err(|panic| stage::panicked(call.name(), panic))?;
        read.map(|prepared| prepared.facts)
    }

    /// The stages of a call. Most calls end at their first poll, which is a plain function, so that
    /// they carry no state; what waits is boxed.
    #[inline]
    async fn stages(&self, call: &Call<'_>, watch: Option<&record::Watch<'_>>) -> Answer {
        let (entry, plan) = match stage::find(&self.run.core, call.name()) {
            Ok(found) => found,
            Err(error) => return error.into(),
        };
        let scope = match Scope::new(&self.run, plan, call, watch.map(|watch| watch.id)) {
            Ok(scope) => scope,
            Err(error) => return error.into(),
        };
        let stages = Stages { run: &self.run, entry, plan, call, watch };
        let mut rest: Option<BoxFuture<'_, Answer>> = None;
        poll_fn(|context| {
            if let Some(rest) = &mut rest {
                return rest.as_mut().poll(context);
            }
            match stages.first_poll(&scope, context) {
                Progress::Ended(answer) => Poll::Ready(answer),
                Progress::Waiting(future) => {
                    rest.insert(Box::pin(stages.wait(None, future))).as_mut().poll(context)
                }
                Progress::Running(admitted, future) => rest
                    .insert(Box::pin(stages.wait(Some(admitted), future)))
                    .as_mut()
                    .poll(context),
            }
        })
        .await
    }
}

/// One call on its way.
struct Stages<'a> {
    run: &'a Run,
    entry: &'a Entry,
    plan: &'a Plan,
    call: &'a Call<'a>,
    watch: Option<&'a record::Watch<'a>>,
}

/// How far a call came at its first poll.
enum Progress<'a> {
    Ended(Answer),
    /// There is no room for it yet.
    Waiting(BoxFuture<'a, Answer>),
    /// Its tool waits for something.
    Running(stage::Admitted<'a>, BoxFuture<'a, Answer>),
}

impl<'a> Stages<'a> {
    /// The order of the stages. Any of them may end the call with an error, and so does a panic of
    /// the tool.
    #[inline]
    fn first_poll(&self, scope: &'a Scope<'a>, context: &mut Context<'_>) -> Progress<'a> {
        let stages = AssertUnwindSafe(|| {
            let prepared =
                stage::read(self.entry, scope, self.call.arguments(), self.plan.facts())?;
            stage::approve(self.call.name(), &prepared.facts)?;
            let mut future = prepared.future;
            let Some(admitted) = stage::admit_at_once(self.run, self.plan, self.call) else {
                return Ok(Progress::Waiting(future));
            };
            let admitted = admitted?;
            self.executing();
            match future.as_mut().poll(context) {
                Poll::Ready(answer) => stage::check(self.entry, answer).map(Progress::Ended),
                Poll::Pending => Ok(Progress::Running(admitted, future)),
            }
        });
        match catch_unwind(stages) {
            Ok(Ok(progress)) => progress,
            Ok(Err(error)) => Progress::Ended(error.into()),
            Err(panic) => Progress::Ended(stage::panicked(self.call.name(), panic).into()),
        }
    }

    /// The rest of a call that has to wait, for a place or for its tool.
    async fn wait(
        &self,
        admitted: Option<stage::Admitted<'a>>,
        future: BoxFuture<'a, Answer>,
    ) -> Answer {
        let rest = async {
            let _admitted = match admitted {
                Some(admitted) => admitted,
                None => {
                    let admitted = stage::admit(self.run, self.plan, self.call).await?;
                    self.executing();
                    admitted
                }
            };
            let answer = stage::invoke(future, self.run, self.plan, self.call).await?;
            stage::check(self.entry, answer)
        };
        rest.await.unwrap_or_else(Answer::from)
    }

    #[inline]
    fn executing(&self) {
        if let Some(watch) = self.watch {
            watch.executing();
        }
    }
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Executor")
            .field("run", &self.run.id())
            .field("tools", self.registry())
            .finish()
    }
}

/// How long a call may take that does not say itself.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How many calls an executor runs at once.
pub(crate) const DEFAULT_LIMIT: u32 = 16;
