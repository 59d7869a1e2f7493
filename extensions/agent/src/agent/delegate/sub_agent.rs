//! A sub-agent, as an application describes it.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use toolwright::policy::PolicyBuilder;
use toolwright::{InvalidPattern, Profile};

use crate::agent::{Instructions, IntoInstructions, IntoModel, ModelNameError};
use crate::limits::Cost;
use crate::limits::share::WantedShare;
use crate::model::{Model, ModelSettings};
use crate::run::{Output, OutputError};

/// An agent that the model of another can give tasks to; see [`AgentBuilder::sub_agent`](crate::AgentBuilder::sub_agent).
///
/// - Its tools are a part of those that its parent has: what its [`profile`](Self::profile) selects of what the parent's model was
///   shown, and never more.
/// - Its calls are judged by the policy of the parent, and by [its own rules](Self::policy): the stricter decision counts. A person
///   is asked where the run's own calls are asked about, and reads which agent asks.
/// - It has user, session and services of the run.
/// - It spends what its parent has left: its share is taken out of that before it starts, and what it has not spent returns.
/// - It ends with the call that started it, and its end is the answer of that call ([`SubAgentAnswer`](crate::SubAgentAnswer)).
///
/// ```
/// use toolwright_agent::SubAgent;
///
/// let researcher = SubAgent::new("researcher", "Finds out how the code works. Changes nothing.")
///     .profile(["read_file", "grep"])
///     .max_turns(20);
/// # let _ = researcher;
/// ```
pub struct SubAgent {
    pub(in crate::agent) name: String,
    pub(super) description: String,
    /// All tools but those that start sub-agents, where there is none.
    pub(super) profile: Option<Result<Profile, InvalidPattern>>,
    /// The parent's, where there is none.
    pub(super) model: Option<Result<Box<dyn Model>, ModelNameError>>,
    pub(super) instructions: Option<Instructions>,
    pub(super) policy: Option<PolicyBuilder>,
    pub(super) wanted: WantedShare,
    pub(super) time: Option<Duration>,
    pub(super) max_tokens: Option<u32>,
    pub(super) settings: Option<ModelSettings>,
    pub(super) at_once: u32,
    pub(super) is_tool: bool,
    pub(super) output: Option<Result<Output, OutputError>>,
}

impl SubAgent {
    /// The most sub-agents of one name that work at once.
    pub const AT_ONCE: u32 = 5;

    /// How deep agents may lie in each other: the sub-agents of a run have depth 1.
    pub const DEPTH: usize = 3;

    /// Begins a sub-agent by its name and by what it is for, both of which the model reads that gives it tasks.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            profile: None,
            model: None,
            instructions: None,
            policy: None,
            wanted: WantedShare::default(),
            time: None,
            max_tokens: None,
            settings: None,
            at_once: 1,
            is_tool: false,
            output: None,
        }
    }

    /// Selects its tools, by the patterns of a [`Profile`]. Unless set, it has all tools of its parent but those that start
    /// sub-agents: it can start some where the profile selects `spawn_agent`.
    #[must_use]
    pub fn profile(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.profile = Some(Profile::new(patterns));
        self
    }

    /// Sets its model: that of its parent unless set.
    #[must_use]
    pub fn model(mut self, model: impl IntoModel) -> Self {
        self.model = Some(model.into_model());
        self
    }

    /// Sets what its model reads before everything else. Unless set, it reads its name, what it is for, and that its last words
    /// are all that its parent gets.
    #[must_use]
    pub fn instructions<M>(mut self, instructions: impl IntoInstructions<M>) -> Self {
        self.instructions = Some(instructions.into_instructions());
        self
    }

    /// Adds rules for its calls, and a mode where one is set. They take nothing back: where the policy of the executor denies a call
    /// or asks a person, it does so here too.
    ///
    /// ```
    /// use toolwright::policy::{Policy, Rule};
    /// use toolwright_agent::SubAgent;
    ///
    /// let rule = Rule::ask("the reviewer only reviews").named("reviewer-writes").tool("write_file");
    /// let reviewer = SubAgent::new("reviewer", "Reviews a change.").policy(Policy::builder().rule(rule));
    /// # let _ = reviewer;
    /// ```
    #[must_use]
    pub fn policy(mut self, policy: PolicyBuilder) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Limits how often its model is asked: as often as its parent's may still be asked, unless set.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.wanted.turns = Some(turns.max(1));
        self
    }

    /// Limits the tokens of its requests and answers: as many as its parent has left, unless set.
    #[must_use]
    pub fn max_total_tokens(mut self, tokens: u64) -> Self {
        self.wanted.tokens = Some(tokens);
        self
    }

    /// Limits what it may cost: as much as its parent has left, unless set.
    #[must_use]
    pub fn max_cost(mut self, cost: Cost) -> Self {
        self.wanted.cost = Some(cost);
        self
    }

    /// Limits how long it may work, decisions of people included: as long as its parent, unless set. A process that goes on with it counts
    /// anew.
    #[must_use]
    pub fn max_duration(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Limits the tokens of one answer of its model.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets how its model is asked to answer: as its parent's, unless set.
    #[must_use]
    pub fn settings(mut self, settings: ModelSettings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Lets it end in a value of this type: what it gives is read as strictly as the input of a tool, and what is wrong goes back to it, by
    /// the places of the problems. The value is [`SubAgentAnswer::output`](crate::SubAgentAnswer::output) of its answer.
    ///
    /// ```
    /// use toolwright_agent::SubAgent;
    ///
    /// /// What the reviewer has found.
    /// #[toolwright::data]
    /// struct Review {
    ///     /// Whether the change can be merged.
    ///     is_good: bool,
    ///     /// What has to be changed first.
    ///     problems: Vec<String>,
    /// }
    ///
    /// let reviewer = SubAgent::new("reviewer", "Reviews a change.").output::<Review>();
    /// # let _ = reviewer;
    /// ```
    #[must_use]
    pub fn output<T>(mut self) -> Self
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
    {
        self.output = Some(Output::of::<T>());
        self
    }

    /// Lets so many of them work at once, two to five, where the model starts several in one answer: one after the other, unless
    /// set. Only a sub-agent whose tools all read can, which [`build`](crate::AgentBuilder::build) sees to: what several change
    /// at once would not wait for each other.
    #[must_use]
    pub fn at_once(mut self, agents: u32) -> Self {
        self.at_once = agents;
        self
    }

    /// Lets the model give it tasks by a tool of its own name, `{task}`, in place of `spawn_agent`.
    #[must_use]
    pub fn as_tool(mut self) -> Self {
        self.is_tool = true;
        self
    }
}

impl fmt::Debug for SubAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SubAgent").field("name", &self.name).finish_non_exhaustive()
    }
}
