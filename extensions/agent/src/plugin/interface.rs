//! The interface of a plugin.

use std::error::Error;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolwright::{ExecutorBuilder, Registration};

use super::{EndedRun, NextTurn};

/// The reason why a plugin fails: any error, or a text.
pub type PluginError = Box<dyn Error + Send + Sync>;

/// A part of an agent that brings tools, and decides before each turn which tools and instructions the model is shown,
/// depending on the run so far. A plugin has a typed state, which is recorded with the run.
///
/// Add a plugin by [`AgentBuilder::with`](crate::AgentBuilder::with). All tools and plugins can read and set its state,
/// which they name by the plugin's type: tools by [`Plugins`](crate::Plugins) in their signature, plugins by
/// [`NextTurn`].
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
    /// The state that the plugin has for each run: a struct with `#[toolwright::data]`, or `()`. A run begins with the
    /// default of this type.
    type State: PluginState;

    /// Returns the name of the plugin for errors and for the record of its state. Two plugins of an agent must not have
    /// the same id.
    fn id(&self) -> String;

    /// Returns the tools that belong to every turn, unless a plugin leaves one out of a turn.
    fn tools(&self) -> Vec<Registration> {
        Vec::new()
    }

    /// Adds other parts to the executor, such as services for the plugin's tools.
    fn install(&self, executor: ExecutorBuilder) -> ExecutorBuilder {
        executor
    }

    /// Prepares a turn before the model is asked: adds tools, leaves out tools, adds instructions, reads and sets
    /// states. The plugins prepare a turn in the order in which they were added, each within 30 seconds. The states
    /// that they set take effect when the model has answered. If the model is asked again, the turn is prepared again.
    ///
    /// # Errors
    /// Any error that prevents the preparation. The model is then not asked, and the run stops with
    /// [`Stopped::Plugin`](crate::Stopped::Plugin); it can be resumed.
    fn prepare(
        &self,
        turn: &mut NextTurn<'_>,
    ) -> impl Future<Output = Result<(), PluginError>> + Send {
        let _ = turn;
        async { Ok(()) }
    }

    /// Reacts to the end of a run, before the end is recorded. The states that the plugin sets are recorded with the
    /// end. If the process dies before the end is recorded, the method may be called again. If the method fails, panics
    /// or takes longer than 30 seconds, a warning is logged, and the run ends without the plugin's changes.
    fn ended(
        &self,
        run: &mut EndedRun<'_>,
    ) -> impl Future<Output = Result<(), PluginError>> + Send {
        let _ = run;
        async { Ok(()) }
    }
}

/// A type that can be the state of a plugin: one with `#[toolwright::data]` that is `Clone` and `Default`, or `()`.
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
