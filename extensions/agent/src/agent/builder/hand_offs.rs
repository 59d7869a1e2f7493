//! Adds the agents to which an agent's runs may be handed off.

use super::AgentBuilder;
use crate::agent::hand_off::HandOff;

impl<E> AgentBuilder<E> {
    /// Adds an agent to which the model can hand a run off, by a call of `hand_off {agent, reason}`. From the next turn
    /// on, that agent drives the run, with the whole history, some of the tools, and its own instructions and model.
    /// See [`HandOff`].
    ///
    /// The history of a run determines which agent continues the run. A process that takes over a recorded run
    /// continues it as the agent that drove it last. A fork or a rewind continues as the agent that drove the run at
    /// that turn. So keep adding an agent as long as a run that was handed off to it may continue.
    ///
    /// With an existing executor ([`Agent::on`](crate::Agent::on)), `hand_off` is registered on that executor, which
    /// can serve only one agent that hands runs off. The executor's policy decides about calls of `hand_off`. The
    /// default policy asks a person; to change that, add a rule that allows `hand_off`.
    ///
    /// ```
    /// use toolwright::tool;
    /// use toolwright_agent::{Agent, HandOff, ScriptedModel};
    ///
    /// /// Finds the invoice of an order.
    /// #[tool(effect = read)]
    /// async fn find_invoice(
    ///     /// Which order.
    ///     order: u32,
    /// ) -> String {
    ///     format!("order {order}: 450 cents")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let model = ScriptedModel::new()
    ///     .calls([("hand_off", r#"{"agent":"billing","reason":"It is about an invoice."}"#)]);
    /// let billing = HandOff::to("billing", "Answers questions about invoices.").model(
    ///     ScriptedModel::new().calls([("find_invoice", r#"{"order":7}"#)]).says("You owe 450 cents."),
    /// );
    /// let agent = Agent::builder(model).name("triage").tools([FIND_INVOICE]).hand_off(billing).build()?;
    /// let result = agent.run("What do I owe for order 7?").await?;
    /// assert_eq!((result.text(), result.turns()), ("You owe 450 cents.", 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn hand_off(mut self, to: HandOff) -> Self {
        self.hand_offs.push(to);
        self
    }
}
