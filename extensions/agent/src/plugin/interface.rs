//! What a plugin is to its author.

use std::error::Error;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolwright::{ExecutorBuilder, Registration};

use super::{EndedRun, NextTurn};

/// Why a plugin cannot prepare a turn: any error, also a text.
pub type PluginError = Box<dyn Error + Send + Sync>;

/// A part of an agent: tools, and what the model is shown of them and reads before each turn, depending on what the run knows by
/// then. It has a typed state, which is recorded with the run.
///
/// An agent takes it by [`AgentBuilder::with`](crate::AgentBuilder::with). Any tool and any plugin reads and sets its state by its
/// type: tools by [`Plugins`](crate::Plugins) in their signature, plugins by [`NextTurn`].
///
/// ```
/// use toolwright::{IntoTool, Registration, ToolError, tool};
/// use toolwright_agent::{Agent, NextTurn, Plugin, PluginError, Plugins, ScriptedModel};
///
/// /// What a customer has in the basket.
/// #[toolwright::data]
/// #[derive(Clone, Default)]
/// struct Basket {
///     /// The names of the goods.
///     goods: Vec<String>,
/// }
///
/// /// Puts something into the basket.
/// #[tool(effect = idempotent, danger = safe, writes())]
/// async fn put(
///     plugins: &Plugins,
///     /// What.
///     name: String,
/// ) -> Result<usize, ToolError> {
///     plugins.edit::<Shopping, _>(|basket| {
///         basket.goods.push(name);
///         basket.goods.len()
///     }).await
/// }
///
/// /// Pays for what is in the basket.
/// #[tool(effect = once, danger = safe, writes())]
/// async fn pay(plugins: &Plugins) -> String {
///     format!("paid for {:?}", plugins.get::<Shopping>().map(|it| it.goods.clone()))
/// }
///
/// struct Shopping;
///
/// impl Plugin for Shopping {
///     type State = Basket;
///
///     fn id(&self) -> String {
///         "shopping".to_owned()
///     }
///
///     fn tools(&self) -> Vec<Registration> {
///         vec![PUT.into_tool()]
///     }
///
///     async fn prepare(&self, turn: &mut NextTurn<'_>) -> Result<(), PluginError> {
///         let basket = turn.get::<Self>().unwrap_or_default();
///         if !basket.goods.is_empty() {
///             turn.add_tool(PAY);
///         }
///         turn.instruct(format!("There are {} things in the basket.", basket.goods.len()));
///         Ok(())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let model = ScriptedModel::new().calls([("put", r#"{"name":"tea"}"#)]).calls([("pay", "{}")]).says("Done.");
/// let agent = Agent::builder(model).with(Shopping).build()?;
/// let result = agent.run("Buy tea.").await?;
/// assert_eq!(result.to_string(), "Done.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no plugin",
    label = "expected a type that implements `Plugin`"
)]
pub trait Plugin: Send + Sync + 'static {
    /// What it remembers of a run: a struct with `#[toolwright::data]`, or `()`. A run begins with its default.
    type State: PluginState;

    /// Names the plugin: errors name it so, and its state is recorded under this id. An agent takes one plugin of an id.
    fn id(&self) -> String;

    /// Returns the tools that the model is always shown, unless a plugin leaves one out of a turn.
    fn tools(&self) -> Vec<Registration> {
        Vec::new()
    }

    /// Adds what else it brings to the executor: services of its tools, stages, rules.
    fn install(&self, executor: ExecutorBuilder) -> ExecutorBuilder {
        executor
    }

    /// Prepares a turn, before the model is asked: adds tools and leaves tools out, adds instructions, reads and sets states. The
    /// plugins of an agent prepare it in the order in which it was given them, each within 30 seconds. What they set counts when
    /// the model has answered; a turn that is asked for again is prepared again.
    ///
    /// # Errors
    /// Whatever keeps it from that: the model is not asked then, and the run stops with
    /// [`Stopped::Plugin`](crate::Stopped::Plugin), to be resumed.
    fn prepare(
        &self,
        turn: &mut NextTurn<'_>,
    ) -> impl Future<Output = Result<(), PluginError>> + Send {
        let _ = turn;
        async { Ok(()) }
    }

    /// Is called when a run ends, before that is recorded; what it sets is recorded with the end. It may be called again where the
    /// process dies in between. One that fails, panics or takes longer than 30 seconds is logged, and the run ends without it.
    fn ended(
        &self,
        run: &mut EndedRun<'_>,
    ) -> impl Future<Output = Result<(), PluginError>> + Send {
        let _ = run;
        async { Ok(()) }
    }
}

/// What a plugin may have as its state: a type with `#[toolwright::data]` that is `Clone` and `Default`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the state of a plugin",
    label = "it is recorded, cloned, and begins with a default",
    note = "put `#[toolwright::data]` and `#[derive(Clone, Default)]` on it"
)]
pub trait PluginState:
    Serialize + DeserializeOwned + JsonSchema + Clone + Default + Send + Sync + 'static
{
}

#[diagnostic::do_not_recommend]
impl<T> PluginState for T where
    T: Serialize + DeserializeOwned + JsonSchema + Clone + Default + Send + Sync + 'static
{
}
