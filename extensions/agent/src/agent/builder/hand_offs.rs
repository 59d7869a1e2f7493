//! The agents that runs of an agent may be handed off to.

use super::AgentBuilder;
use crate::agent::hand_off::HandOff;

impl<E> AgentBuilder<E> {
    /// Adds an agent to which the model can hand a run off, by a call of `hand_off {agent, reason}`. From the next turn
    /// on, that agent drives the run, with the whole history, a part of the tools, and its own instructions and model.
    /// See [`HandOff`].
    ///
    /// The history of a run determines which agent drives it. So a recorded run that is resumed continues with the
    /// agent that drove it last, and a fork or a rewind with the agent that drove it in that turn. As long as the run
    /// may continue, the agent to which it was handed off has to be given here.
    ///
    /// With an existing executor ([`Agent::on`](crate::Agent::on)), the tool `hand_off` is registered on that executor,
    /// which can serve only one such agent. Its policy decides about the tool: a person is asked, unless a rule allows
    /// it.
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
