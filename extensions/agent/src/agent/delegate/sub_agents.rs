//! Checks the sub-agents of an agent, and connects the tools that start them to the agent.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Semaphore;
use toolwright::policy::{Mode, Policy, PolicyBuilder, Protection};
use toolwright::{Effect, Profile};

use super::SubAgent;
use super::tools::SPAWN_AGENT;
use crate::agent::builder::{listed, priced};
use crate::agent::{Agent, AgentError, Inner, IntoInstructions as _};
use crate::durable::LocalDrivers;
use crate::events::Rings;
use crate::limits::Limits;
use crate::limits::ledger::Ledger;
use crate::limits::share::WantedShare;
use crate::results::AnswerBudget;
use crate::run::options::Ids;
use crate::run::{HAND_OFF, has_hand_off};

/// The sub-agents of an agent, by their names.
pub(crate) struct SubAgents {
    agents: BTreeMap<String, ReadySubAgent>,
    /// Semaphores that limit how many sub-agents of one name work at once in a run.
    places: Mutex<HashMap<(String, String), Weak<Semaphore>>>,
}

/// A sub-agent that can be started.
pub(super) struct ReadySubAgent {
    pub(super) agent: Agent,
    pub(super) profile: Profile,
    pub(super) policy: Option<Policy>,
    pub(super) wanted: WantedShare,
    pub(super) time: Option<Duration>,
    pub(super) at_once: u32,
}

/// A weak reference to an agent, for the tools of the agent's executor. It is empty until the agent is built.
#[derive(Clone, Default)]
pub(crate) struct Link(Arc<OnceLock<Weak<Inner>>>);

impl Link {
    pub(crate) fn is_of(&self, agent: &Arc<Inner>) {
        // An agent is built only once.
        let _is_first = self.0.set(Arc::downgrade(agent));
    }

    /// Returns the agent, unless it is not built yet or was dropped.
    pub(super) fn agent(&self) -> Option<Agent> {
        self.0.get()?.upgrade().map(Agent)
    }
}

impl SubAgents {
    /// Checks the sub-agents of an agent; returns `None` if the agent has none.
    pub(crate) fn of(agents: Vec<SubAgent>, parent: &Inner) -> Result<Option<Self>, AgentError> {
        if agents.is_empty() {
            return Ok(None);
        }
        let own: Vec<&str> = agents.iter().filter(|it| it.is_tool).map(|it| &*it.name).collect();
        let has_shared = own.len() < agents.len();
        // Only the model of the run itself can hand the run off, so a sub-agent does not get this tool by default.
        let hands_off = has_hand_off(&parent.executor.catalog()).then_some(HAND_OFF);
        let tools = has_shared.then_some(SPAWN_AGENT).into_iter().chain(hands_off).chain(own);
        let but_these = std::iter::once("*".to_owned()).chain(tools.map(|it| format!("!{it}")));
        let but_these: Vec<String> = but_these.collect();
        let ready = agents.into_iter().map(|agent| {
            let name = agent.name.clone();
            let ready = ReadySubAgent::of(agent, parent, &but_these)?;
            Ok((name, ready))
        });
        let agents = ready.collect::<Result<_, AgentError>>()?;
        Ok(Some(Self { agents, places: Mutex::default() }))
    }

    pub(in crate::agent) fn has(&self, name: &str) -> bool {
        self.agents.contains_key(name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&ReadySubAgent> {
        self.agents.get(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.agents.keys().map(String::as_str)
    }

    /// Returns whether several sub-agents of this name may work at once.
    pub(super) fn work_at_once(&self, name: &str) -> bool {
        self.get(name).is_some_and(|it| it.at_once > 1)
    }

    /// Returns the semaphore for the sub-agents of one name in a run.
    pub(super) fn places(&self, run: &str, name: &str) -> Arc<Semaphore> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (run.to_owned(), name.to_owned());
        if let Some(known) = places.get(&key).and_then(Weak::upgrade) {
            return known;
        }
        places.retain(|_, it| it.strong_count() > 0);
        let at_once = self.get(name).map_or(1, |it| it.at_once);
        let new = Arc::new(Semaphore::new(usize::try_from(at_once).unwrap_or(1)));
        places.insert(key, Arc::downgrade(&new));
        new
    }
}

impl ReadySubAgent {
    fn of(agent: SubAgent, parent: &Inner, but_these: &[String]) -> Result<Self, AgentError> {
        let SubAgent { name, description, profile, model, instructions, policy, .. } = agent;
        let refused = |why: String| AgentError::SubAgent { agent: name.clone(), why };
        let profile = profile.unwrap_or_else(|| Profile::new(but_these));
        let profile = profile.map_err(|error| refused(error.to_string()))?;
        let all = parent.executor.catalog();
        let catalog = all.select(&profile).map_err(|error| refused(error.to_string()))?;
        // The window that the application has set is that of the parent's model.
        let (model, window) = match model {
            Some(model) => (Arc::from(model?), None),
            None => (Arc::clone(&parent.model), parent.window),
        };
        listed(&catalog, &*model)?;
        let output = agent.output.transpose()?;
        if let Some(output) = &output {
            output.fits(&*model, &catalog).map_err(|error| refused(error.to_string()))?;
        }
        let settings = agent.settings.unwrap_or_else(|| parent.settings.clone());
        let max_tokens = match &parent.ceilings {
            Some(ceilings) => {
                let max_tokens = agent.max_tokens.or(parent.max_tokens);
                priced(ceilings.first(), &*model, max_tokens)?;
                max_tokens
            }
            None => agent.max_tokens,
        };
        model.check(&settings, max_tokens).map_err(|error| refused(error.to_string()))?;
        let instructions = instructions.unwrap_or_else(|| words(&name, &description));
        if let Some(service) = instructions.lacks(&parent.executor) {
            return Err(AgentError::Instructions { service });
        }
        if !(1..=SubAgent::AT_ONCE).contains(&agent.at_once) {
            let (found, most) = (agent.at_once, SubAgent::AT_ONCE);
            return Err(refused(format!("found {found} of it at once, expected 1 to {most}")));
        }
        let writes = catalog.definitions().find(|it| it.effect != Effect::Read);
        if let (Some(tool), true) = (writes, agent.at_once > 1) {
            return Err(refused(format!(
                "`{}` may change something, and several that change something do not work at once; leave `.at_once(…)` out, or \
                 the tool",
                tool.name
            )));
        }
        // The executor's policy, with its mode and its protections, decides as well. So the sub-agent's policy needs no
        // default mode and no protections.
        let rules = |policy: PolicyBuilder| {
            policy.without(Protection::ALL).over(Policy::builder().mode(Mode::Unrestricted))
        };
        let policy = policy.map(|policy| parent.executor.make_policy(rules(policy)));
        let policy = policy.transpose();
        let policy = policy.map_err(|error| refused(error.to_string()))?;
        let inner = Inner {
            name: format!("{}/{name}", parent.name),
            drivers: LocalDrivers::default(),
            executor: parent.executor.clone(),
            model,
            instructions,
            early_reads: false,
            output,
            limits: Limits { reports_left: parent.limits.reports_left, ..Limits::default() },
            max_tokens,
            settings,
            listeners: Arc::clone(&parent.listeners),
            guards: parent.guards.of_sub_agents(),
            rings: Rings::default(),
            said_unapproved: AtomicBool::new(false),
            ids: Ids::default(),
            accounts: parent.accounts.clone(),
            // A sub-agent's calls are made as children of another call, which cannot reach the tools that read large
            // answers in parts. So a sub-agent gets whole answers.
            answer_budget: AnswerBudget::unlimited(),
            plugins: Arc::default(),
            window,
            summarizer: parent.summarizer.clone(),
            sub_agents: None,
            hand_offs: None,
            ledger: Ledger::default(),
            ceilings: parent.ceilings.clone(),
            #[cfg(feature = "opentelemetry")]
            metrics: parent.metrics.clone(),
        };
        Ok(Self {
            agent: Agent(Arc::new(inner)),
            profile,
            policy,
            wanted: agent.wanted,
            time: agent.time,
            at_once: agent.at_once,
        })
    }
}

/// Returns the default system prompt of a sub-agent.
fn words(name: &str, description: &str) -> crate::agent::Instructions {
    let text = format!(
        "You are the agent `{name}`. {description}\n\nAnother agent gives you one task. Work on it until it is done, without questions: they get no \
         answer. Your last message is your answer, and all that the other agent gets of your work: put everything into it that was asked for."
    );
    text.into_instructions()
}
