//! A model that calls every tool until it is stopped.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use toolwright::dialect::Dialect;
use toolwright::provider::ToolCall;

use super::generated;
use crate::model::{Model, ModelAnswer, ModelError, ModelRequest};

/// A model for tests that calls one tool after another, in the order of the catalog, with input that it
/// [generates](generated) from the tool's schema. The model never ends a run by itself: a limit, a terminal tool or a
/// cancellation ends it. For the same tools, the same seed gives the same calls.
///
/// ```
/// use toolwright::{Executor, Registry, tool};
/// use toolwright_agent::testing::ExploringModel;
/// use toolwright_agent::{Agent, RunEnd, Limit, check};
///
/// /// Adds two numbers.
/// #[tool(effect = read)]
/// async fn add(
///     /// The first.
///     a: i32,
///     /// The second.
///     b: i32,
/// ) -> i64 {
///     i64::from(a) + i64::from(b)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let executor = Executor::builder(Registry::of([ADD])?).build()?;
/// let agent = Agent::on(executor, ExploringModel::new(7)).max_turns(20).build()?;
/// let mut run = agent.new_run("r").start()?;
/// let ended = run.send("Go!").await?;
/// assert!(matches!(ended, RunEnd::Limit(Limit::Turns { .. })));
/// assert!(check(run.history()).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ExploringModel {
    seed: u64,
    dialect: Dialect,
    without: BTreeSet<String>,
    asked: AtomicU64,
}

impl ExploringModel {
    /// Makes a model with this seed, in Anthropic's dialect.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let without = BTreeSet::new();
        Self { seed, dialect: Dialect::Anthropic, without, asked: AtomicU64::new(0) }
    }

    /// Sets the dialect in which the model accepts tools.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Excludes a tool from the calls, such as one that ends the run.
    #[must_use]
    pub fn without(mut self, tool: impl Into<String>) -> Self {
        self.without.insert(tool.into());
        self
    }

    fn next(&self, request: &ModelRequest<'_>) -> Result<ModelAnswer, ModelError> {
        let Some(catalog) = request.catalog else {
            let why = "the request has no catalog, expected the tools; add it with `.catalog(…)`";
            return Err(ModelError::new("no_catalog", why));
        };
        let tools: Vec<_> =
            catalog.definitions().filter(|it| !self.without.contains(&it.name)).collect();
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        let index = number.checked_rem(tools.len() as u64);
        let Some(tool) = index.and_then(|it| tools.get(usize::try_from(it).ok()?)) else {
            let why = "the catalog has no tool to call, expected at least one";
            return Err(ModelError::new("no_tools", why));
        };
        let seed = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number);
        let arguments = generated(&tool.input_schema, seed).to_string();
        let id = Some(format!("call_{}", number + 1));
        Ok(ModelAnswer::new("", vec![ToolCall { id, name: tool.name.clone(), arguments }]))
    }
}

impl Model for ExploringModel {
    fn name(&self) -> &str {
        "exploring"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move { self.next(&request) })
    }
}
