//! An agent to which a run can be handed off, as an application describes it.

use std::fmt;

use toolwright::policy::PolicyBuilder;

use crate::agent::{Instructions, IntoInstructions, IntoModel, ModelNameError};
use crate::model::{Model, ModelSettings};
use crate::run::HANDED_OFF;

/// An agent to which a run can be handed off; see [`AgentBuilder::hand_off`](crate::AgentBuilder::hand_off).
///
/// - It continues the run from the next turn: with the whole history, for the same user, session and services, within
///   the same limits.
/// - It has some tools of the agent with which the run began: its [`profile`](Self::profile) selects from them.
/// - The policy of the run and [its own rules](Self::policy) decide about its calls: the stricter decision counts. An
///   approval request names the agent as `agent:<run>/<name>`.
/// - It can hand the run off only to the agents that [`may_hand_off_to`](Self::may_hand_off_to) names. To let it hand
///   the run back, name the agent with which the run began.
///
/// ```
/// use toolwright_agent::HandOff;
///
/// let billing = HandOff::to("billing", "Answers questions about invoices.")
///     .profile(["find_invoice", "refund"])
///     .instructions("You answer questions about invoices.")
///     .may_hand_off_to(["triage"]);
/// # let _ = billing;
/// ```
pub struct HandOff {
    pub(in crate::agent) name: String,
    pub(super) description: String,
    /// The patterns that select the agent's tools; `None` means all tools.
    pub(super) profile: Option<Vec<String>>,
    /// The model of this agent; `None` means the model of the agent with which the run began.
    pub(super) model: Option<Result<Box<dyn Model>, ModelNameError>>,
    pub(super) instructions: Option<Instructions>,
    pub(super) policy: Option<PolicyBuilder>,
    pub(super) max_tokens: Option<u32>,
    pub(super) window: Option<u64>,
    pub(super) settings: Option<ModelSettings>,
    /// The names of the agents to which this agent may hand the run off.
    pub(super) targets: Vec<String>,
}

impl HandOff {
    /// How many times a run may be handed off after each message of its user. Further calls of `hand_off` are refused,
    /// so that two agents do not hand a run back and forth forever.
    pub const PER_MESSAGE: u32 = HANDED_OFF;

    /// Creates an agent with a name and a description of its purpose. The models that may hand a run off to the agent
    /// read both.
    pub fn to(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            profile: None,
            model: None,
            instructions: None,
            policy: None,
            max_tokens: None,
            window: None,
            settings: None,
            targets: Vec::new(),
        }
    }

    /// Selects the tools of the agent by the patterns of a [`Profile`](toolwright::Profile). Unless set, the agent has
    /// all tools of the agent with which the run began. [`may_hand_off_to`](Self::may_hand_off_to) decides whether the
    /// agent has `hand_off`.
    #[must_use]
    pub fn profile(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.profile = Some(patterns.into_iter().map(|it| it.as_ref().to_owned()).collect());
        self
    }

    /// Sets the model of the agent. Unless set, the agent uses the model of the agent with which the run began.
    #[must_use]
    pub fn model(mut self, model: impl IntoModel) -> Self {
        self.model = Some(model.into_model());
        self
    }

    /// Sets the instructions of the agent, which replace those of the agent that handed the run off. Unless set, the
    /// instructions give the agent's name and purpose, and say that the run was handed off to it.
    #[must_use]
    pub fn instructions<M>(mut self, instructions: impl IntoInstructions<M>) -> Self {
        self.instructions = Some(instructions.into_instructions());
        self
    }

    /// Adds rules for the agent's calls, and a mode if the policy sets one. The rules can only be stricter than the
    /// policy of the executor: they cannot allow a call that this policy denies or asks a person about.
    #[must_use]
    pub fn policy(mut self, policy: PolicyBuilder) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Limits the tokens of one answer of the agent's model. Unless set, the limit of the agent with which the run
    /// began applies.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets the size of the context window of the agent's model, in tokens. Unless set, an agent with a model of its own
    /// has the window of that model, and any other agent that of the agent with which the run began; see [`AgentBuilder::window`](crate::AgentBuilder::window).
    #[must_use]
    pub fn window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    /// Sets options of the requests to the agent's model. Unless set, the settings of the agent with which the run
    /// began apply. Settings of a single run apply only to the agent with which the run began.
    #[must_use]
    pub fn settings(mut self, settings: ModelSettings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// Names the agents to which this agent may hand the run off; none unless set. These are agents that are given to
    /// the same builder, or the agent with which the run began, by its [`name`](crate::AgentBuilder::name).
    #[must_use]
    pub fn may_hand_off_to(mut self, agents: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.targets.extend(agents.into_iter().map(Into::into));
        self
    }
}

impl fmt::Debug for HandOff {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HandOff")
            .field("name", &self.name)
            .field("may_hand_off_to", &self.targets)
            .finish_non_exhaustive()
    }
}
