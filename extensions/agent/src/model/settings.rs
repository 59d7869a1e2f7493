//! How a model is asked to answer, beside what it is asked.

use toolwright::provider::Provider;

/// How a model is asked to answer. A model refuses a setting that its provider does not have, before it sends anything.
///
/// | setting | Anthropic | `OpenAI` chat | `OpenAI` Responses | Gemini |
/// | --- | --- | --- | --- | --- |
/// | [`tool_choice`](Self::tool_choice) | all; `Required` and `Tool` not with reasoning | all | all | all |
/// | [`one_call`](Self::one_call) | yes | yes | yes | no |
/// | [`stop_words`](Self::stop_words) | yes | at most 4 | no | at most 5 |
/// | [`reasoning`](Self::reasoning) | effort, tokens | effort | effort | effort, tokens |
/// | [`show_reasoning`](Self::show_reasoning) | with `reasoning`, a summary | as the server does unasked | a summary | thoughts |
/// | [`provider_tools`](Self::provider_tools) | those of `Anthropic` | those of `OpenAiChat` | those of `OpenAiResponses` | those of `Gemini` |
/// | [`cache`](Self::cache) | marks, 5 minutes or 1 hour | key, minutes or 24 hours | as chat | caches unasked |
/// | [`temperature`](Self::temperature) | 0 to 1; not with `reasoning` | 0 to 2 | 0 to 2 | 0 to 2 |
/// | [`top_p`](Self::top_p) | 0 to 1; not with `reasoning` | 0 to 1 | 0 to 1 | 0 to 1 |
/// | [`seed`](Self::seed) | no | yes | no | yes |
///
/// ```
/// use toolwright_agent::{Effort, ModelSettings, Reasoning, ToolChoice};
///
/// let settings = ModelSettings::new()
///     .tool_choice(ToolChoice::Required)
///     .one_call()
///     .reasoning(Reasoning::Effort(Effort::High));
/// assert_ne!(settings, ModelSettings::default());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelSettings {
    /// Which tools the model may or has to call. An agent forces a call until there was one since the user spoke.
    pub tool_choice: ToolChoice,
    /// Whether an answer may have one call at most.
    pub one_call: bool,
    /// Texts at which the model stops.
    pub stop_words: Vec<String>,
    /// How much the model reasons before it answers; as its provider decides where there is none.
    pub reasoning: Option<Reasoning>,
    /// Whether the provider is asked for words of the reasoning, which listeners get as [`Delta::Reasoning`](crate::Delta::Reasoning).
    pub show_reasoning: bool,
    /// How the provider caches what requests have in common; as it decides where there is none.
    pub cache: Option<PromptCache>,
    /// Tools that a provider runs itself. A request has those of its own provider.
    pub provider_tools: Vec<ProviderTool>,
    /// How much chance there is in the choice of words; as the model has it where there is none.
    pub temperature: Option<f64>,
    /// The probability mass of the likeliest tokens to sample from (`top_p`); the model's default when absent.
    pub top_p: Option<f64>,
    /// From what chance begins, so that requests of one seed are answered alike, as far as the provider can do that.
    pub seed: Option<u64>,
}

/// Which tools a model may or has to call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// It calls none.
    None,
    /// It calls at least one.
    Required,
    /// It calls this one, by the application's name.
    Tool(String),
}

/// How much a model reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reasoning {
    /// In steps that the provider defines.
    Effort(Effort),
    /// At most so many tokens.
    Tokens(u32),
}

/// How much effort a model makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Effort {
    /// Little, for fast answers.
    Low,
    /// More.
    Medium,
    /// Much.
    High,
}

pub(crate) static DEFAULT: ModelSettings = ModelSettings::new();

impl ModelSettings {
    /// Leaves the choice of tools to the model, and the rest to its provider.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            tool_choice: ToolChoice::Auto,
            one_call: false,
            stop_words: Vec::new(),
            reasoning: None,
            show_reasoning: false,
            cache: None,
            provider_tools: Vec::new(),
            temperature: None,
            top_p: None,
            seed: None,
        }
    }

    /// Sets which tools the model may or has to call.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Lets an answer have one call at most.
    #[must_use]
    pub fn one_call(mut self) -> Self {
        self.one_call = true;
        self
    }

    /// Sets the texts at which the model stops.
    #[must_use]
    pub fn stop_words(mut self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.stop_words = words.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how much the model reasons before it answers.
    #[must_use]
    pub fn reasoning(mut self, reasoning: Reasoning) -> Self {
        self.reasoning = Some(reasoning);
        self
    }

    /// Asks for words of the reasoning, where the provider has them.
    #[must_use]
    pub fn show_reasoning(mut self) -> Self {
        self.show_reasoning = true;
        self
    }

    /// Sets how the provider caches what requests have in common.
    #[must_use]
    pub fn cache(mut self, cache: PromptCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets how much chance there is in the choice of words: 0 for as little as there can be.
    ///
    /// ```
    /// use toolwright_agent::{Agent, ModelSettings, ScriptedModel};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let agent = Agent::builder(ScriptedModel::new().says("Tea.")).build()?;
    /// let settings = ModelSettings::new().temperature(0.0).seed(7);
    /// println!("{}", agent.run("Tea or coffee?").settings(settings).await?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the share of the likeliest words that are chosen from.
    #[must_use]
    pub fn top_p(mut self, share: f64) -> Self {
        self.top_p = Some(share);
        self
    }

    /// Sets from what chance begins.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The settings of a request after the call that they force: the model decides again, or could never end.
    pub(crate) fn after_a_call(&self) -> Self {
        match self.tool_choice {
            ToolChoice::Required | ToolChoice::Tool(_) => {
                self.clone().tool_choice(ToolChoice::Auto)
            }
            ToolChoice::Auto | ToolChoice::None => self.clone(),
        }
    }

    /// Adds a tool that the provider runs itself.
    #[must_use]
    pub fn provider_tool(mut self, tool: ProviderTool) -> Self {
        self.provider_tools.push(tool);
        self
    }
}

/// A tool that a provider runs itself, a web search for instance, as its document defines it. Nothing here reads or runs it: the
/// request carries the definition after the application's own tools, what the provider sends of its calls goes back in
/// the history as it came, and a listener hears of each as [`Delta::ProviderTool`](crate::Delta::ProviderTool).
///
/// ```
/// use toolwright::provider::Provider;
/// use toolwright_agent::{ModelSettings, ProviderTool};
///
/// let search = r#"{"type":"web_search_20250305","name":"web_search","max_uses":3}"#;
/// let settings = ModelSettings::new()
///     .provider_tool(ProviderTool::new(Provider::Anthropic, search))
///     .provider_tool(ProviderTool::new(Provider::OpenAiResponses, r#"{"type":"web_search"}"#));
/// assert_eq!(settings.provider_tools.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderTool {
    /// Whose it is. Requests to others are without it.
    pub provider: Provider,
    /// An entry of `tools` in a request, as JSON.
    pub definition: String,
}

impl ProviderTool {
    /// Describes a tool that the provider runs, by its definition, an object of JSON.
    pub fn new(provider: Provider, definition: impl Into<String>) -> Self {
        Self { provider, definition: definition.into() }
    }
}

/// How a provider caches what requests have in common. The requests of a run do: each begins with all of the one before it, byte
/// for byte, as long as the tools and the system text are the same.
///
/// Anthropic caches where a request has marks: after the system text, before which the tools are, and at the end. `OpenAI`
/// caches unasked, and finds more where requests of one prefix have one key. Gemini caches unasked.
///
/// ```
/// use toolwright_agent::{ModelSettings, PromptCache};
///
/// let settings = ModelSettings::new().cache(PromptCache::new().key("support-desk"));
/// assert_eq!(settings.cache.and_then(|it| it.key).as_deref(), Some("support-desk"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptCache {
    /// What requests of one prefix have in common, for providers that take a key.
    pub key: Option<String>,
    /// Whether it lasts longer, an hour for Anthropic and a day for `OpenAI`, which may cost more.
    pub lasts_long: bool,
}

impl PromptCache {
    /// Caches for as long as the provider usually does, without a key.
    #[must_use]
    pub const fn new() -> Self {
        Self { key: None, lasts_long: false }
    }

    /// Requests of one prefix have one key, such as the name of the agent. It is no secret.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Caches for longer than usual.
    #[must_use]
    pub fn lasts_long(mut self) -> Self {
        self.lasts_long = true;
        self
    }
}

impl Effort {
    /// Its name in requests.
    #[cfg(feature = "http")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}
