//! One call from end to end, stage after stage. Every call gets exactly one answer.

mod builder;
mod calling;
mod gate;
mod run;
mod service;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::call::Call;
use crate::capability::{Own, Scope};
use crate::error::ToolError;
use crate::footprint::Facts;
use crate::registry::Registry;
use crate::stage;

pub use builder::{BuildError, BuildProblem, ExecutorBuilder};
pub use calling::Calling;
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
    /// Dropping the future drops the tool's future with it, and listeners hear `Abandoned`.
    #[inline]
    pub fn call<'a>(&'a self, call: &'a Call<'a>) -> Calling<'a> {
        Calling::new(&self.run, call)
    }

    /// What policy would know of a call, without running it: its danger, whether it asks a person,
    /// what it touches.
    ///
    /// # Errors
    /// When the call would be refused before policy: an unknown tool, wrong input.
    pub fn examine(&self, call: &Call<'_>) -> Result<Facts, ToolError> {
        let (entry, plan) = stage::find(&self.run.core, call.name())?;
        let facts = plan.facts().with_footprint(entry.definition.effect);
        let own = Own::of(&self.run, plan, call, None)?;
        let scope = Scope::new(&self.run, plan, call, own.as_ref());
        let read = AssertUnwindSafe(|| {
            stage::read(entry, scope, call.arguments(), facts).map(|prepared| prepared.facts)
        });
        catch_unwind(read).unwrap_or_else(|panic| Err(stage::panicked(call.name(), panic)))
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
