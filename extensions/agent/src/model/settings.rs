//! The options of requests to a model.

use toolwright::Catalog;
use toolwright::provider::Provider;

/// The options of requests to a model. Before an HTTP model sends a request, it refuses settings that its provider does
/// not support. Three settings are ignored instead: tools of other providers, `show_reasoning` and `cache`.
///
/// | setting | Anthropic | `OpenAI` chat | `OpenAI` Responses | Gemini |
/// | --- | --- | --- | --- | --- |
/// | [`tool_choice`](Self::tool_choice) | all; `Required` and `Tool` not with reasoning | all | all | all |
/// | [`one_call`](Self::one_call) | yes | yes | yes | no |
/// | [`stop_words`](Self::stop_words) | yes | at most 4 | no | at most 5 |
/// | [`reasoning`](Self::reasoning) | effort, tokens | effort | effort | effort, tokens |
/// | [`show_reasoning`](Self::show_reasoning) | with `reasoning`, a summary | the server's default | a summary | thoughts |
/// | [`provider_tools`](Self::provider_tools) | those of `Anthropic` | those of `OpenAiChat` | those of `OpenAiResponses` | those of `Gemini` |
/// | [`cache`](Self::cache) | marks, 5 minutes or 1 hour | key, minutes or 24 hours | as chat | by default |
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
    /// Which tools the model may or must call. An agent forces calls only until the model has made a call after the
    /// user's last message.
    pub tool_choice: ToolChoice,
    /// Whether an answer may have at most one call.
    pub one_call: bool,
    /// The texts at which the model stops before it writes them.
    pub stop_words: Vec<String>,
    /// How much the model reasons before it answers; the provider's default if `None`.
    pub reasoning: Option<Reasoning>,
    /// Whether to request the text of the reasoning, which listeners get as
    /// [`Delta::Reasoning`](crate::Delta::Reasoning).
    pub show_reasoning: bool,
    /// How the provider caches the common prefix of requests; the provider's default if `None`.
    pub cache: Option<PromptCache>,
    /// The tools that providers run themselves. A request includes only the tools of its own provider.
    pub provider_tools: Vec<ProviderTool>,
    /// The sampling temperature; the model's default if `None`.
    pub temperature: Option<f64>,
    /// The probability mass of the likeliest tokens to sample from (`top_p`); the model's default if `None`.
    pub top_p: Option<f64>,
    /// The seed of sampling: requests with the same seed get similar answers, as far as the provider supports that.
    pub seed: Option<u64>,
}

/// Which tools a model may or must call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides whether to call a tool.
    #[default]
    Auto,
    /// The model must not call a tool.
    None,
    /// The model must call at least one tool.
    Required,
    /// The model must call this tool, by the application's name. If a request does not offer the tool, such as
    /// a request of a sub-agent without it, the model chooses freely in that request. A provider refuses the name of a
    /// tool that the executor does not have.
    Tool(String),
}

/// How much a model reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reasoning {
    /// A level that the provider defines.
    Effort(Effort),
    /// A maximum number of tokens for the reasoning.
    Tokens(u32),
}

/// A level of reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Effort {
    /// Low effort, for fast answers.
    Low,
    /// Medium effort.
    Medium,
    /// High effort.
    High,
}

pub(crate) static DEFAULT: ModelSettings = ModelSettings::new();

impl ModelSettings {
    /// Makes settings with the providers' defaults; the model chooses its tools.
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

    /// Sets which tools the model may or must call.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Limits an answer to one call.
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

    /// Requests the text of the reasoning, if the provider supports it.
    #[must_use]
    pub fn show_reasoning(mut self) -> Self {
        self.show_reasoning = true;
        self
    }

    /// Sets how the provider caches the common prefix of requests.
    #[must_use]
    pub fn cache(mut self, cache: PromptCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets the sampling temperature: 0 for as little randomness as possible.
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

    /// Sets the probability mass of the likeliest tokens to sample from.
    #[must_use]
    pub fn top_p(mut self, share: f64) -> Self {
        self.top_p = Some(share);
        self
    }

    /// Sets the seed of sampling.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Returns the settings after a forced call. The model chooses freely again, because otherwise the run could never
    /// end.
    pub(crate) fn after_a_call(&self) -> Self {
        match self.tool_choice {
            ToolChoice::Required | ToolChoice::Tool(_) => {
                self.clone().tool_choice(ToolChoice::Auto)
            }
            ToolChoice::Auto | ToolChoice::None => self.clone(),
        }
    }

    /// Returns whether the settings force the model to call a tool that is not in this catalog, and that the provider
    /// does not run itself.
    pub(crate) fn forces_other(&self, offered: &Catalog) -> bool {
        match &self.tool_choice {
            ToolChoice::Tool(name) => self.provider_tools.is_empty() && offered.get(name).is_none(),
            _ => false,
        }
    }

    /// Adds a tool that the provider runs itself.
    #[must_use]
    pub fn provider_tool(mut self, tool: ProviderTool) -> Self {
        self.provider_tools.push(tool);
        self
    }
}

/// A tool that a provider runs itself, such as a web search, in the provider's format. This library does not interpret
/// the tool. The request contains the definition after the application's own tools. The content of its calls is stored
/// in the history verbatim, and a listener gets each call as [`Delta::ProviderTool`](crate::Delta::ProviderTool).
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
    /// The provider that runs the tool. Requests to other providers omit the tool.
    pub provider: Provider,
    /// The entry for the tool in `tools` of a request, as JSON.
    pub definition: String,
}

impl ProviderTool {
    /// Makes a tool from its definition, a JSON object.
    pub fn new(provider: Provider, definition: impl Into<String>) -> Self {
        Self { provider, definition: definition.into() }
    }
}

/// How a provider caches the common prefix of requests. Each request of a run begins with the whole previous request,
/// byte for byte, as long as the tools and the system prompt are unchanged and the history is not shortened.
///
/// Anthropic caches up to marks: one after the system prompt, which follows the tools, and one at the end of the
/// request. `OpenAI` caches by default, and has more hits if requests with the same prefix share a key. Gemini caches
/// by default.
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
    /// A key that requests with the same prefix share, for providers that support one.
    pub key: Option<String>,
    /// Whether the cache lasts longer, an hour at Anthropic and a day at `OpenAI`, which may cost more.
    pub lasts_long: bool,
}

impl PromptCache {
    /// Caches for the provider's usual time, without a key.
    #[must_use]
    pub const fn new() -> Self {
        Self { key: None, lasts_long: false }
    }

    /// Sets a key that requests with the same prefix share, such as the name of the agent. The key is not a secret.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Makes the cache last longer than usual.
    #[must_use]
    pub fn lasts_long(mut self) -> Self {
        self.lasts_long = true;
        self
    }
}

impl Effort {
    /// Returns the name of the level in requests.
    #[cfg(feature = "http")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}
