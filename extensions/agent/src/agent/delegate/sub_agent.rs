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

/// An agent to which the model of another agent can give tasks; see
/// [`AgentBuilder::sub_agent`](crate::AgentBuilder::sub_agent).
///
/// - It has some of its parent's tools: its [`profile`](Self::profile) selects from the tools that the parent's model
///   was shown.
/// - The policy of the parent and [its own rules](Self::policy) decide about its calls: the stricter decision counts.
///   Its approval requests go to the approver of the run, and name the sub-agent as the one that asks.
/// - It has the user, session and services of the run.
/// - It spends from what its parent has left: its share is deducted before it starts, and the unspent part is returned
///   at its end.
/// - It ends with the call that started it, and its end is the answer of that call
///   ([`SubAgentAnswer`](crate::SubAgentAnswer)).
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
    /// The profile that selects the sub-agent's tools; `None` means all tools except `hand_off` and those that start
    /// sub-agents.
    pub(super) profile: Option<Result<Profile, InvalidPattern>>,
    /// The model of the sub-agent; `None` means the model of its parent.
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
    /// The maximum number of runs of one sub-agent that work at once.
    pub const AT_ONCE: u32 = 5;

    /// The maximum depth of nested agents: the sub-agents of a run have depth 1.
    pub const DEPTH: usize = 3;

    /// Creates a sub-agent with a name and a description of its purpose. The model that gives tasks to the sub-agent
    /// reads both.
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

    /// Selects the sub-agent's tools, by the patterns of a [`Profile`]. Unless set, it has all tools of its parent
    /// except `hand_off` and those that start sub-agents. It can start sub-agents if the profile selects `spawn_agent`
    /// or a sub-agent that is a tool ([`as_tool`](Self::as_tool)).
    #[must_use]
    pub fn profile(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.profile = Some(Profile::new(patterns));
        self
    }

    /// Sets the model of the sub-agent. Unless set, it has the model and the window of its parent. The window of another
    /// model is [`Model::window`](crate::Model::window).
    #[must_use]
    pub fn model(mut self, model: impl IntoModel) -> Self {
        self.model = Some(model.into_model());
        self
    }

    /// Sets the sub-agent's system prompt. Unless set, the prompt gives the sub-agent's name and purpose, and says that
    /// the parent gets only its last message.
    #[must_use]
    pub fn instructions<M>(mut self, instructions: impl IntoInstructions<M>) -> Self {
        self.instructions = Some(instructions.into_instructions());
        self
    }

    /// Adds rules for the calls of the sub-agent, and a mode if the policy sets one. The rules can only be stricter
    /// than the policy of the executor: they cannot allow a call that this policy denies or asks a person about.
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

    /// Limits how many times the sub-agent's model is asked. Unless set, the limit is the number of turns that its
    /// parent has left, less the turn in which the parent reads the answer. If several sub-agents may work
    /// [`at_once`](Self::at_once), that number is divided among them. A higher limit than that number has no effect.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.wanted.turns = Some(turns.max(1));
        self
    }

    /// Limits the tokens of the sub-agent's requests and answers. Unless set, the limit is what its parent has left. If
    /// several sub-agents may work [`at_once`](Self::at_once), that number is divided among them.
    #[must_use]
    pub fn max_total_tokens(mut self, tokens: u64) -> Self {
        self.wanted.tokens = Some(tokens);
        self
    }

    /// Limits what the sub-agent may cost. Unless set, the limit is what its parent has left. If several sub-agents may
    /// work [`at_once`](Self::at_once), that amount is divided among them.
    #[must_use]
    pub fn max_cost(mut self, cost: Cost) -> Self {
        self.wanted.cost = Some(cost);
        self
    }

    /// Limits how long the sub-agent may work, including the time that people take to decide. Unless set, only the
    /// limit of its parent applies. The time starts again whenever the call that started the sub-agent begins again:
    /// after a crash, or after an approval for which the call waited in the journal.
    #[must_use]
    pub fn max_duration(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Limits the tokens of one answer of the sub-agent's model. Unless set, the model's own limit applies. If the
    /// parent has a [ceiling](crate::AgentBuilder::ceiling), the parent's limit applies instead.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets options of the sub-agent's requests to its model. Unless set, the options of its parent apply.
    #[must_use]
    pub fn settings(mut self, settings: ModelSettings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Makes the sub-agent end in a value of this type. The answer of its model is parsed as strictly as the input of a
    /// tool. If the answer is invalid, the sub-agent's model gets the problems with their locations, and answers again,
    /// at most twice. The parent's model reads the value in [`SubAgentAnswer::output`](crate::SubAgentAnswer::output).
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

    /// Sets how many runs of the sub-agent may work at once if the model starts several in one answer: 1 to 5. Unless
    /// set, they work one after the other. With more than one, all tools of the sub-agent must be read-only:
    /// [`build`](crate::AgentBuilder::build) refuses others, because their changes would not wait for each other.
    #[must_use]
    pub fn at_once(mut self, agents: u32) -> Self {
        self.at_once = agents;
        self
    }

    /// Gives the sub-agent a tool of its own, with the sub-agent's name and the argument `task`. The model starts the
    /// sub-agent by this tool instead of `spawn_agent`.
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
