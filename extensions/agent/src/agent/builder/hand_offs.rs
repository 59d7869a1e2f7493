//! The agents that runs of an agent may be handed off to.

use super::AgentBuilder;
use crate::agent::hand_off::HandOff;

impl<E> AgentBuilder<E> {
    /// Adds an agent to which the model can hand a run off, by a call of `hand_off {agent, reason}`. From the next turn
    /// on, that agent drives the run, with the whole history, a part of the tools, and its own instructions and model.
    /// See [`HandOff`].
    ///
    /// Which agent continues a run follows from its history. So a process that takes a recorded run continues it as the
    /// agent that drove it last, and a fork or a rewind continues as the agent that drove it at that turn. An agent to
    /// which a run was handed off has to be given here as long as the run may continue.
    ///
    /// Over an executor that exists already ([`Agent::on`](crate::Agent::on)), `hand_off` is registered with that
    /// executor, for one agent of it. Its policy decides about it: a person is asked, unless a rule allows it.
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
