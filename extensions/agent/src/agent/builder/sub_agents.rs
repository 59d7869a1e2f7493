//! Adds sub-agents and the tools that start them to each kind of builder.

use toolwright::Executor;

use super::{AgentBuilder, AgentError, SubAgent};
use crate::agent::NewExecutor;
use crate::agent::delegate::SubAgentTools;
use crate::agent::hand_off::hand_off_tool;
use crate::run::HAND_OFF;

impl<E> AgentBuilder<E> {
    /// Adds a sub-agent to which the model can give tasks, by calls of `spawn_agent` or of the sub-agent's own tool
    /// ([`SubAgent::as_tool`]). The sub-agent works on the task with some of the agent's tools, and its answer is the
    /// answer of the call. The policy of the run decides about the sub-agent's calls, its approval requests go to the
    /// approver of the run, and its usage counts for the run. See [`SubAgent`].
    ///
    /// With an existing executor ([`Agent::on`](crate::Agent::on)), the tools that start sub-agents are registered on
    /// that executor, which can serve only one agent with sub-agents. The executor's policy decides about calls of
    /// these tools. The default policy asks a person; to change that, add rules that allow these tools.
    ///
    /// ```
    /// use toolwright::tool;
    /// use toolwright_agent::{Agent, ScriptedModel, SubAgent};
    ///
    /// /// Tells the price of an article, in cents.
    /// #[tool(effect = read)]
    /// async fn price_of(
    ///     /// Which.
    ///     article: String,
    /// ) -> u32 {
    ///     article.len() as u32
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let clerk = SubAgent::new("clerk", "Looks up prices.")
    ///     .profile(["price_of"])
    ///     .model(ScriptedModel::new().calls([("price_of", r#"{"article":"tea"}"#)]).says("It is 3 cents."));
    /// let model = ScriptedModel::new()
    ///     .calls([("spawn_agent", r#"{"agent":"clerk","task":"What does tea cost?"}"#)])
    ///     .says("Tea costs 3 cents.");
    /// let agent = Agent::builder(model).tools([PRICE_OF]).sub_agent(clerk).build()?;
    /// let result = agent.run("What does tea cost?").await?;
    /// assert_eq!(result.to_string(), "Tea costs 3 cents.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sub_agent(mut self, agent: SubAgent) -> Self {
        self.sub_agents.push(agent);
        self
    }

    /// Makes the tools that start sub-agents, the tool that hands runs off, and the rules that let the model call these
    /// tools.
    fn sub_agent_tools(&self) -> Result<Option<SubAgentTools>, AgentError> {
        let started = SubAgentTools::of(&self.sub_agents, &self.link)?;
        let Some((tool, rule)) = hand_off_tool(&self.hand_offs, &self.name) else {
            return Ok(started);
        };
        Ok(Some(match started {
            Some(SubAgentTools { mut tools, policy }) => {
                tools.push(tool);
                SubAgentTools { tools, policy: policy.over(rule) }
            }
            None => SubAgentTools { tools: vec![tool], policy: rule },
        }))
    }
}

impl AgentBuilder<NewExecutor> {
    /// Makes the tools and rules of [`sub_agent_tools`](Self::sub_agent_tools) for a new executor.
    pub(in crate::agent) fn take_sub_agent_tools(
        &mut self,
    ) -> Result<Option<SubAgentTools>, AgentError> {
        self.has_sub_agent_tools = true;
        self.sub_agent_tools()
    }
}

impl AgentBuilder<Executor> {
    /// Registers the tools that start sub-agents, and the tool that hands runs off, on an existing executor. Does
    /// nothing if the builder has made the executor, which then has these tools.
    pub(super) fn register_sub_agent_tools(&self) -> Result<Vec<String>, AgentError> {
        let made = match self.has_sub_agent_tools {
            true => None,
            false => self.sub_agent_tools()?,
        };
        let Some(SubAgentTools { tools, .. }) = made else { return Ok(Vec::new()) };
        let registry = self.executor.registry();
        let mut is_there = tools.iter().filter(|it| registry.get(it.name()).is_some());
        if let Some(tool) = is_there.next() {
            if let (HAND_OFF, Some(first)) = (tool.name(), self.hand_offs.first()) {
                let why = "the executor has a tool `hand_off` already; give each agent that hands runs off an executor of its own";
                return Err(AgentError::HandOff { agent: first.name.clone(), why: why.to_owned() });
            }
            let agent = self.sub_agents.first().map(|it| it.name.clone()).unwrap_or_default();
            let why = format!(
                "the executor has a tool `{}` already; give each agent with sub-agents an executor of its own, or name the sub-agent otherwise",
                tool.name()
            );
            return Err(AgentError::SubAgent { agent, why });
        }
        let names = tools.iter().map(|it| it.name().to_owned()).collect();
        registry.register_all(tools)?;
        Ok(names)
    }
}
