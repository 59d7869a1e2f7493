//! The agents to which the runs of an agent may be handed off, after they were checked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use toolwright::policy::{Mode, Policy, PolicyBuilder, Protection};
use toolwright::{Catalog, Profile};

use super::HandOff;
use super::tool::{Descriptions, descriptions, listed};
use crate::agent::builder::{listed as takes_tools, priced};
use crate::agent::{Agent, AgentError, Inner, Instructions, IntoInstructions as _};
use crate::durable::LocalDrivers;
use crate::events::Rings;
use crate::limits::ledger::Ledger;
use crate::run::HAND_OFF;
use crate::run::options::Ids;

/// The agents to which the runs of an agent may be handed off, by their names.
pub(crate) struct HandOffs {
    agents: BTreeMap<String, ReadyHandOff>,
    /// The names of the agents to which a run's first agent may hand the run off.
    targets: Vec<String>,
    /// A catalog with the tool `hand_off`, as the model of a run's first agent sees the tool.
    listed: Option<Catalog>,
}

/// An agent to which runs can be handed off, with its tools and policy.
pub(crate) struct ReadyHandOff {
    pub(crate) agent: Agent,
    pub(crate) profile: Profile,
    pub(crate) policy: Option<Policy>,
    targets: Vec<String>,
    listed: Option<Catalog>,
}

impl HandOffs {
    /// Checks the agents to which runs can be handed off. Returns `None` if the application has added none.
    pub(crate) fn of(agents: Vec<HandOff>, first: &Inner) -> Result<Option<Self>, AgentError> {
        if agents.is_empty() {
            return Ok(None);
        }
        let all = descriptions(&agents, &first.name);
        let targets: Vec<String> = agents.iter().map(|it| it.name.clone()).collect();
        let mut ready = BTreeMap::new();
        for agent in agents {
            let (name, refused) = (agent.name.clone(), refused_for(&agent.name));
            if let Some(why) = problem(&name, &first.name, ready.contains_key(&name)) {
                return Err(refused(why));
            }
            if first.sub_agents.as_ref().is_some_and(|it| it.has(&name)) {
                let why = "a sub-agent has this name, and people read by its name who asks; give one of the two another";
                return Err(refused(why.to_owned()));
            }
            ready.insert(name, ReadyHandOff::of(agent, first, &all)?);
        }
        let listed = listed(&all, &targets);
        Ok(Some(Self { agents: ready, targets, listed }))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ReadyHandOff> {
        self.agents.get(name)
    }

    pub(crate) fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.named().map(|(_, agent)| agent)
    }

    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, &Agent)> {
        self.agents.iter().map(|(name, it)| (&**name, &it.agent))
    }

    /// Returns the names of the agents to which the agent `of` may hand the run off. `None` means the agent with which
    /// runs begin.
    pub(crate) fn targets(&self, of: Option<&str>) -> &[String] {
        match of {
            None => &self.targets,
            Some(name) => self.get(name).map_or(&[], |it| &it.targets),
        }
    }

    /// Returns the catalog with `hand_off` for the model of an agent; `None` if the agent may not hand the run off.
    pub(crate) fn listed(&self, of: Option<&str>) -> Option<&Catalog> {
        match of {
            None => self.listed.as_ref(),
            Some(name) => self.get(name)?.listed.as_ref(),
        }
    }
}

fn refused_for(agent: &str) -> impl Fn(String) -> AgentError + use<> {
    let agent = agent.to_owned();
    move |why| AgentError::HandOff { agent: agent.clone(), why }
}

/// Returns what is wrong with an agent's name. Models and people identify the agent by this name.
fn problem(name: &str, first: &str, is_twice: bool) -> Option<String> {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_word) {
        return Some("its name is no word; name it by 1 to 64 letters, digits, `_` and `-`".into());
    }
    if name == first {
        return Some("the agent with which runs begin has this name; give one of the two another, the first by `.name(…)`".into());
    }
    is_twice.then(|| "there are two of its name; give each a name of its own".into())
}

impl ReadyHandOff {
    fn of(agent: HandOff, first: &Inner, all: &Descriptions) -> Result<Self, AgentError> {
        let HandOff { name, description, profile, model, instructions, policy, targets, .. } =
            agent;
        let refused = refused_for(&name);
        if let Some(target) = targets.iter().find(|it| **it == name || !all.contains_key(*it)) {
            let known: Vec<String> =
                all.keys().filter(|it| **it != name).map(|it| format!("`{it}`")).collect();
            return Err(refused(format!(
                "it may not hand a run off to `{target}`, expected one of {}",
                known.join(", ")
            )));
        }
        let mut patterns = profile.unwrap_or_else(|| vec!["*".to_owned()]);
        if !targets.is_empty() {
            patterns.push(HAND_OFF.to_owned());
        }
        let profile = Profile::new(patterns).map_err(|error| refused(error.to_string()))?;
        let catalog = first.executor.catalog().select(&profile);
        let catalog = catalog.map_err(|error| refused(error.to_string()))?;
        // The window that the application has set for the first agent is that of the first agent's model.
        let (model, window) = match model {
            Some(model) => (Arc::from(model?), None),
            None => (Arc::clone(&first.model), first.window),
        };
        takes_tools(&catalog, &*model)?;
        if let Some(output) = &first.output {
            output.fits(&*model, &catalog).map_err(|error| refused(error.to_string()))?;
        }
        let settings = agent.settings.unwrap_or_else(|| first.settings.clone());
        let max_tokens = agent.max_tokens.or(first.max_tokens);
        if let Some(ceilings) = &first.ceilings {
            priced(ceilings.first(), &*model, max_tokens)?;
        }
        model.check(&settings, max_tokens).map_err(|error| refused(error.to_string()))?;
        let instructions = instructions.unwrap_or_else(|| words(&name, &description));
        if let Some(service) = instructions.lacks(&first.executor) {
            return Err(AgentError::Instructions { service });
        }
        // The executor's policy, with its mode and its protections, decides as well. So the agent's policy needs no
        // default mode and no protections.
        let rules = |policy: PolicyBuilder| {
            policy.without(Protection::ALL).over(Policy::builder().mode(Mode::Unrestricted))
        };
        let policy = policy.map(|policy| first.executor.make_policy(rules(policy))).transpose();
        let policy = policy.map_err(|error| refused(error.to_string()))?;
        let inner = Inner {
            name: format!("{}/{name}", first.name),
            drivers: LocalDrivers::default(),
            executor: first.executor.clone(),
            model,
            instructions,
            early_reads: first.early_reads,
            output: None,
            limits: first.limits,
            max_tokens,
            settings,
            listeners: Arc::clone(&first.listeners),
            guards: first.guards.clone(),
            rings: Rings::default(),
            said_unapproved: AtomicBool::new(false),
            ids: Ids::default(),
            accounts: first.accounts.clone(),
            answer_budget: first.answer_budget.clone(),
            plugins: Arc::clone(&first.plugins),
            window: agent.window.or(window),
            summarizer: first.summarizer.clone(),
            sub_agents: None,
            hand_offs: None,
            ledger: Ledger::default(),
            ceilings: first.ceilings.clone(),
            #[cfg(feature = "opentelemetry")]
            metrics: first.metrics.clone(),
        };
        let listed = listed(all, &targets);
        Ok(Self { agent: Agent(Arc::new(inner)), profile, policy, targets, listed })
    }
}

/// Returns the default system prompt of an agent to which a run is handed off.
fn words(name: &str, description: &str) -> Instructions {
    let text = format!(
        "You are the agent `{name}`. {description}\n\nThe conversation was handed off to you: go on with it, from all that was said and done."
    );
    text.into_instructions()
}
