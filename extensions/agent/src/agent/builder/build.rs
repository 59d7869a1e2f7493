//! Makes the agent, after checking that its parts fit together.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use toolwright::dialect::DialectError;
use toolwright::{Catalog, Executor};

use super::AgentBuilder;
use crate::agent::delegate::SubAgents;
use crate::agent::hand_off::HandOffs;
use crate::agent::{Agent, AgentError, Inner};
use crate::durable::LocalDrivers;
use crate::events::Rings;
use crate::limits::Ceiling;
use crate::limits::ceilings::Ceilings;
use crate::limits::ledger::Ledger;
use crate::model::Model;
use crate::plugin::PluginSet;
use crate::run::options::Ids;

impl AgentBuilder<Executor> {
    /// Makes the agent.
    ///
    /// # Errors
    /// When a part of the agent is invalid; see [`AgentError`]. For example, the model is not known or has no key, or
    /// its provider refuses a tool of the executor (the error lists all reasons) or does not support a setting.
    pub fn build(self) -> Result<Agent, AgentError> {
        self.guards.check().map_err(AgentError::Guard)?;
        let registered = self.register_sub_agent_tools()?;
        let executor = self.executor.clone();
        self.checked().inspect_err(|_| {
            // Other agents share the executor, and a corrected builder registers these tools again.
            for tool in &registered {
                // A tool that the application has removed meanwhile need not be removed.
                let _is_removed = executor.registry().unregister(tool);
            }
        })
    }

    /// Makes the agent, whose tools are registered.
    fn checked(self) -> Result<Agent, AgentError> {
        let (executor, model) = (self.executor, Arc::from(self.model?));
        if let Some(service) = self.instructions.lacks(&executor) {
            return Err(AgentError::Instructions { service });
        }
        let catalog = executor.catalog();
        listed(&catalog, &*model)?;
        let is_there = |tool: &&'static str| catalog.get(tool).is_some();
        if let Some(tool) = self.answer_budget.tools().into_iter().find(is_there) {
            return Err(AgentError::ResultTool { tool });
        }
        let output = self.output.transpose()?;
        if let Some(output) = &output {
            output.fits(&*model, &catalog)?;
        }
        model.check(&self.settings, self.max_tokens).map_err(AgentError::Settings)?;
        let plugins = Arc::new(PluginSet::of(self.plugins)?);
        let journal = executor.journal_access();
        let mut agent = Inner {
            name: self.name,
            drivers: LocalDrivers::default(),
            executor,
            model,
            instructions: self.instructions,
            early_reads: self.early_reads,
            answer_budget: self.answer_budget,
            plugins,
            output,
            limits: self.limits,
            max_tokens: self.max_tokens,
            window: self.window,
            summarizer: self.summarizer,
            settings: self.settings,
            listeners: self.listeners.into(),
            guards: self.guards,
            rings: Rings::default(),
            said_unapproved: AtomicBool::new(false),
            ids: Ids::default(),
            accounts: self.accounts,
            sub_agents: None,
            hand_offs: None,
            ledger: Ledger::new(journal),
            ceilings: None,
            #[cfg(feature = "opentelemetry")]
            metrics: self.metrics,
        };
        agent.ceilings = held(self.ceilings, &agent)?;
        agent.sub_agents = SubAgents::of(self.sub_agents, &agent)?;
        agent.hand_offs = HandOffs::of(self.hand_offs, &agent)?;
        let agent = Arc::new(agent);
        self.link.is_of(&agent);
        Ok(Agent(agent))
    }
}

/// Checks that each ceiling can be enforced, and makes the ceilings of an agent.
fn held(ceilings: Vec<Ceiling>, agent: &Inner) -> Result<Option<Ceilings>, AgentError> {
    let Some(ceiling) = ceilings.first().copied() else { return Ok(None) };
    let Some(journal) = agent.journal() else {
        let why = "what runs cost is added up in a journal; give the agent one by `.journal(…)`";
        return Err(AgentError::Ceiling { ceiling, why: why.to_owned() });
    };
    priced(ceiling, &*agent.model, agent.max_tokens)?;
    Ok(Some(Ceilings::new(ceiling, ceilings, &agent.name, journal)))
}

/// Checks that the maximum cost of a request to a model is known.
pub(in crate::agent) fn priced(
    ceiling: Ceiling,
    model: &dyn Model,
    max_tokens: Option<u32>,
) -> Result<(), AgentError> {
    let refused = |why: String| AgentError::Ceiling { ceiling, why };
    if max_tokens.is_none() {
        let why = "an answer may have any number of tokens, and cost as much; limit it by `.max_tokens(…)`";
        return Err(refused(why.to_owned()));
    }
    match model.most_cost(1, 1) {
        Some(_) => Ok(()),
        None => Err(refused(format!(
            "the price of the model `{}` is not known; add it to the prices of the model, or leave the ceiling out",
            model.name()
        ))),
    }
}

/// Checks that the provider of a model accepts these tools.
pub(crate) fn listed(catalog: &Catalog, model: &dyn Model) -> Result<(), DialectError> {
    for dialect in model.dialects() {
        catalog.listing(dialect)?;
        if model.searches_tools() {
            catalog.searchable_listing(dialect)?;
        }
    }
    Ok(())
}
