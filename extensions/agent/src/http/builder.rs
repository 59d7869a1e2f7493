//! Gathers the options of a model over HTTP: address, key, time-outs and limits.

mod build;

use std::fmt;
use std::time::Duration;

use reqwest::ClientBuilder;
use serde_json::Value;
use toolwright::provider::MediaSupport;
use toolwright::retry::RetryPolicy;

use super::api::Api;
use super::key::ApiKey;
use super::{OnExchange, OnRetry, Retrying, Sampling};
use crate::limits::Prices;
use crate::model::Reasoning;
use crate::recording::Exchange;

type ChangeClient = Box<dyn FnOnce(ClientBuilder) -> ClientBuilder + Send + Sync>;

/// A builder for an [`HttpModel`](super::HttpModel).
///
/// | option | default |
/// | --- | --- |
/// | [`base_url`](Self::base_url) | the vendor's own server |
/// | [`origin`](Self::origin) | the provider's name; for another host than the vendor's, with the host, and for the chat API with the model |
/// | [`key`](Self::key) | none |
/// | [`key_header`](Self::key_header) | the header of the API |
/// | [`header`](Self::header) | only the headers of the API |
/// | [`client`](Self::client): proxies, certificates, headers | reqwest's own: the system's proxies and certificates |
/// | [`timeout`](Self::timeout), [`connect_timeout`](Self::connect_timeout) | 10 minutes, 10 seconds |
/// | [`idle_timeout`](Self::idle_timeout): between two pieces of an answer | 5 minutes |
/// | [`body_limit`](Self::body_limit) | 16 MiB |
/// | [`tool_search`](Self::tool_search) | deferred tools are not in requests |
/// | [`compact_above`](Self::compact_above) | the provider compacts nothing |
/// | [`max_tokens`](Self::max_tokens) | 8192 for Anthropic, which requires a limit; else the model's own |
/// | [`reasoning`](Self::reasoning) | what the settings of the request say |
/// | [`temperature`](Self::temperature), [`top_p`](Self::top_p), [`seed`](Self::seed) | the model's default; the settings of a request take precedence |
/// | [`extra_body`](Self::extra_body) | nothing |
/// | [`plain_max_tokens`](Self::plain_max_tokens) | the chat API's limit is sent as `max_completion_tokens` |
/// | [`media`](Self::media) | pictures and documents, if the provider supports them |
/// | [`retry`](Self::retry) | [`RetryPolicy::NETWORK`] |
/// | [`longest_wait`](Self::longest_wait) | one minute |
/// | [`prices`](Self::prices) | [`Prices::standard`] |
#[must_use]
pub struct HttpModelBuilder {
    api: Api,
    model: String,
    base_url: String,
    origin: Option<String>,
    key: Option<ApiKey>,
    key_header: Option<String>,
    headers: Vec<(String, String)>,
    client: Option<ChangeClient>,
    timeout: Duration,
    connect_timeout: Duration,
    idle_timeout: Duration,
    body_limit: usize,
    searches_tools: bool,
    compact_above: Option<u64>,
    max_tokens: Option<u32>,
    knows_max_tokens_alone: bool,
    reasoning: Option<Reasoning>,
    sampling: Sampling,
    extra_body: Value,
    media: MediaSupport,
    retry: RetryPolicy,
    longest_wait: Duration,
    prices: Prices,
    on_exchange: Option<OnExchange>,
    on_retry: Option<OnRetry>,
}

impl HttpModelBuilder {
    pub(super) fn new(api: Api, model: String) -> Self {
        let media = api.media(&model);
        Self {
            api,
            model,
            base_url: api.base_url().to_owned(),
            origin: None,
            key: None,
            key_header: None,
            headers: Vec::new(),
            client: None,
            timeout: Duration::from_secs(600),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(300),
            body_limit: 16 << 20,
            searches_tools: false,
            compact_above: None,
            max_tokens: None,
            knows_max_tokens_alone: false,
            reasoning: None,
            sampling: Sampling::default(),
            extra_body: Value::Object(serde_json::Map::new()),
            media,
            retry: RetryPolicy::NETWORK,
            longest_wait: Duration::from_secs(60),
            prices: Prices::standard(),
            on_exchange: None,
            on_retry: None,
        }
    }

    /// Sets the base URL: the part before `/v1/messages` for Anthropic, before `/chat/completions` and `/responses` for
    /// `OpenAI`, and before `/v1beta/models` for Gemini. A query, such as Azure's `?api-version=…`, is added to every
    /// request.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = url.into();
        self
    }

    /// Sets the name under which histories store the server's signatures and reasoning. Set the provider's name if the
    /// base URL is a gateway that forwards requests to the vendor's own server.
    ///
    /// ```
    /// use toolwright_agent::Model as _;
    /// use toolwright_agent::http::HttpModel;
    ///
    /// let direct = HttpModel::anthropic("some-model").base_url("http://models.example").build()?;
    /// assert_eq!(direct.origin(), Some("anthropic@models.example"));
    /// // A server that imitates the chat API may serve models of many vendors.
    /// let chat = HttpModel::openai_chat("some-model").base_url("http://models.example/v1").build()?;
    /// assert_eq!(chat.origin(), Some("openai-chat@models.example/some-model"));
    /// let gateway = HttpModel::anthropic("some-model").base_url("http://gateway.example").origin("anthropic").build()?;
    /// assert_eq!(gateway.origin(), Some("anthropic"));
    /// # Ok::<(), toolwright_agent::http::HttpModelError>(())
    /// ```
    pub fn origin(mut self, name: impl Into<String>) -> Self {
        self.origin = Some(name.into());
        self
    }

    /// Sets the key of the account: a text, or an [`ApiKey`] that says where to find the key. If no key is set, or the
    /// text is empty, no header for the key is sent.
    pub fn key(mut self, key: impl Into<ApiKey>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sends the key in this header without a prefix. Some servers expect the key in another header than the vendor's,
    /// for instance `api-key` for Azure.
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        self.key_header = Some(name.into());
        self
    }

    /// Adds a header to every request. The header replaces a header of the API with the same name. `Debug` does not
    /// show the value. Unlike the key, the value is not removed from what a server sends.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Changes the HTTP client of [`reqwest`](super::reqwest): proxies, root certificates, client certificates, more
    /// headers. The model never follows redirects, and its [`timeout`](Self::timeout) and
    /// [`connect_timeout`](Self::connect_timeout) override those set here. Unless a proxy is set here, the client uses
    /// the system's proxies, but none for a server on loopback. An HTTP proxy in front of a server without TLS can read
    /// the key.
    ///
    /// ```
    /// use toolwright_agent::http::HttpModel;
    /// use toolwright_agent::http::reqwest::Proxy;
    ///
    /// let proxy = Proxy::all("http://proxy.example:3128")?;
    /// let model = HttpModel::openai_chat("some-model")
    ///     .base_url("http://models.example/v1")
    ///     .client(|client| client.proxy(proxy))
    ///     .build()?;
    /// # let _ = model;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn client(
        mut self,
        change: impl FnOnce(ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> Self {
        self.client = Some(Box::new(change));
        self
    }

    /// Limits the time of one attempt, from the connection to the last byte of the answer, even if the answer is
    /// streamed.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Limits the time to connect.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Limits how long a streamed answer may pause. After that time, the attempt has failed, and the request is retried
    /// as [`retry`](Self::retry) allows. An answer that is not streamed is limited only by [`timeout`](Self::timeout).
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Limits the size of an answer, in bytes. Of a stream, the pieces of text, reasoning and arguments count without
    /// what surrounds them; a stream may have 64 times as many bytes as its answer.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// Lets the provider's models search for deferred tools, so the agent needs no search of its own. Requests list
    /// these tools, and the provider shows the model the tools that a search has found. Finding tools does not change
    /// the beginning of later requests, so the prefix cache stays valid. Anthropic and `OpenAI` Responses support this,
    /// though not with every model. Anthropic searches by words unless
    /// [`ModelSettings::provider_tools`](crate::ModelSettings::provider_tools) selects its search by regular
    /// expressions.
    ///
    /// ```
    /// use toolwright_agent::Model as _;
    /// use toolwright_agent::http::HttpModel;
    ///
    /// let model = HttpModel::anthropic("some-model").base_url("http://models.example").tool_search().build()?;
    /// assert!(model.searches_tools());
    /// # Ok::<(), toolwright_agent::http::HttpModelError>(())
    /// ```
    pub fn tool_search(mut self) -> Self {
        self.searches_tools = true;
        self
    }

    /// Lets the provider's server compact the history of a request that has more tokens than this. The server writes a
    /// summary, which is in its answer and in later requests, and no longer reads the messages before the summary.
    /// Anthropic (150,000 is usual, 50,000 the least) and the Responses API of `OpenAI` support this. The record of a
    /// run still has the whole history, and a model of another server gets the whole history.
    ///
    /// An agent with a [window](crate::AgentBuilder::window) leaves out repeated and long answers by itself from 3/4 of
    /// its room on. Give a smaller number here, so that the provider compacts first. The provider alone decides which
    /// approvals and open questions its summary mentions, while the agent's own compaction never shortens them.
    ///
    /// ```
    /// use toolwright_agent::http::HttpModel;
    ///
    /// let model = HttpModel::anthropic("some-model").base_url("http://127.0.0.1:8000").compact_above(100_000).build()?;
    /// # let _ = model;
    /// # Ok::<(), toolwright_agent::http::HttpModelError>(())
    /// ```
    pub fn compact_above(mut self, tokens: u64) -> Self {
        self.compact_above = Some(tokens);
        self
    }

    /// Limits the tokens of an answer. If a request has a limit too, the smaller one counts.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sends the limit on an answer's tokens as `max_tokens`, for servers of the chat API that do not know
    /// `max_completion_tokens`.
    pub fn plain_max_tokens(mut self) -> Self {
        self.knows_max_tokens_alone = true;
        self
    }

    /// Sets the sampling temperature, unless the settings of a request do; see
    /// [`ModelSettings::temperature`](crate::ModelSettings::temperature).
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.sampling.temperature = Some(temperature);
        self
    }

    /// Sets the probability mass of the likeliest tokens to sample from, unless the settings of a request do.
    pub fn top_p(mut self, share: f64) -> Self {
        self.sampling.top_p = Some(share);
        self
    }

    /// Sets the seed of sampling, unless the settings of a request do.
    pub fn seed(mut self, seed: u64) -> Self {
        self.sampling.seed = Some(seed);
        self
    }

    /// Adds members to the body of every request, for server options that the settings do not cover, such as `top_k` of
    /// vLLM or `service_tier` of `OpenAI`. An object is merged into the body's object of that name.
    /// [`build`](Self::build) refuses members that the request itself writes: the history, the tools, the model, and
    /// how the answer is sent.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright_agent::http::HttpModel;
    ///
    /// let model = HttpModel::gemini("some-model")
    ///     .base_url("http://127.0.0.1:8000")
    ///     .extra_body(json!({"generationConfig": {"topK": 20}}))
    ///     .build()?;
    /// # let _ = model;
    /// # Ok::<(), toolwright_agent::http::HttpModelError>(())
    /// ```
    pub fn extra_body(mut self, members: Value) -> Self {
        self.extra_body = members;
        self
    }

    /// Sets how much this model reasons, and overrides the settings of requests. Use this if several models share the
    /// settings of an agent, but their providers have different levels of reasoning, or none.
    pub fn reasoning(mut self, reasoning: Reasoning) -> Self {
        self.reasoning = Some(reasoning);
        self
    }

    /// Sets which media the model reads. The model gets a sentence in place of media that it does not read. Set
    /// [`MediaSupport::None`] for a model without vision, since its server would refuse every request with a picture.
    pub fn media(mut self, media: MediaSupport) -> Self {
        self.media = media;
        self
    }

    /// Sets how often a request is retried, and after which pauses.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Limits the pause before a retry. The request fails if the server asks for a longer pause, or if the run's time
    /// would end before the pause does.
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// Sets the prices of tokens. If the list has no price for the model, the cost of its answers is unknown.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Calls a listener with every exchange, whatever its status, to record it. A request without a response is not an
    /// exchange, nor is a streamed answer that broke off. A complete streamed answer is passed as if it had arrived in
    /// one piece.
    pub fn on_exchange(mut self, listener: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        self.on_exchange = Some(Box::new(listener));
        self
    }

    /// Calls a listener before a request is retried.
    pub fn on_retry(mut self, listener: impl Fn(&Retrying<'_>) + Send + Sync + 'static) -> Self {
        self.on_retry = Some(Box::new(listener));
        self
    }
}

/// Omits the key.
impl fmt::Debug for HttpModelBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HttpModelBuilder")
            .field("provider", &self.api.provider().name())
            .field("model", &self.model)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
