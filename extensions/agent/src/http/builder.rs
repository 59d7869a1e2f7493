//! What a model over HTTP is made of: address, key, times and limits.

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

/// Makes an [`HttpModel`](super::HttpModel).
///
/// | option | default |
/// | --- | --- |
/// | [`base_url`](Self::base_url) | the vendor's own server |
/// | [`origin`](Self::origin) | the provider's name, with the host where that is not the vendor's own |
/// | [`key`](Self::key) | none |
/// | [`key_header`](Self::key_header) | that of the API |
/// | [`header`](Self::header) | none but those of the API |
/// | [`client`](Self::client): proxies, certificates, headers | reqwest's own: the system's proxies and certificates |
/// | [`timeout`](Self::timeout), [`connect_timeout`](Self::connect_timeout) | 10 minutes, 10 seconds |
/// | [`idle_timeout`](Self::idle_timeout): between two pieces of an answer | 5 minutes |
/// | [`body_limit`](Self::body_limit) | 16 MiB |
/// | [`tool_search`](Self::tool_search) | deferred tools are not in requests |
/// | [`compact_above`](Self::compact_above) | the provider compacts nothing |
/// | [`max_tokens`](Self::max_tokens) | 8192 for Anthropic, which wants a limit; else the model's own |
/// | [`reasoning`](Self::reasoning) | what the settings of the request say |
/// | [`temperature`](Self::temperature), [`top_p`](Self::top_p), [`seed`](Self::seed) | the model's own; the settings of a request go first |
/// | [`extra_body`](Self::extra_body) | nothing |
/// | [`plain_max_tokens`](Self::plain_max_tokens) | the chat API's `max_completion_tokens` |
/// | [`media`](Self::media) | pictures and documents, wherever the provider takes them |
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

    /// Sets the address below which the API is: what comes before `/v1/messages` for Anthropic, `/chat/completions` and
    /// `/responses` for `OpenAI`, and `/v1beta/models` for Gemini. A query, such as Azure's `?api-version=…`, is that of every
    /// request.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = url.into();
        self
    }

    /// Whose signatures and reasoning the server reads, which stand in histories under this name: for gateways, which pass
    /// requests on to a vendor's own server and have another host.
    ///
    /// ```
    /// use toolwright_agent::Model as _;
    /// use toolwright_agent::http::HttpModel;
    ///
    /// let direct = HttpModel::anthropic("some-model").base_url("http://models.example").build()?;
    /// assert_eq!(direct.origin(), Some("anthropic@models.example"));
    /// // Behind an address that imitates the chat API may be models of many vendors.
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

    /// Sets the key of the account: a text, or an [`ApiKey`] that says where it is. Without one, and with an empty text, no such
    /// header is sent.
    pub fn key(mut self, key: impl Into<ApiKey>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sends the key in this header, as it is, where the server wants it elsewhere than the vendor does: `api-key` for Azure.
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        self.key_header = Some(name.into());
        self
    }

    /// Adds a header to every request, in the place of one that the API has. Its value is shown nowhere.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Changes the HTTP client: proxies, root certificates, a certificate of the client's own, more headers, all as
    /// [`reqwest`](super::reqwest) has them. Redirects are never followed and the times of this builder count, whatever is set
    /// here. Without a proxy set here, those of the system are used, but none for a server on loopback. An HTTP proxy before a
    /// server without TLS reads the key.
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

    /// Limits the time of one attempt, from its connection to the last byte of its answer, also of one that comes in
    /// pieces.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Limits the time of a connection.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Limits how long an answer which comes in pieces may bring nothing, also in the middle; the request is made again then. An answer that
    /// comes at once has [`timeout`](Self::timeout) alone.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Limits the answer that is read, in bytes.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// Lets the provider's models search for deferred tools: requests list them, so that a call of one needs no search here, and
    /// the provider shows its model those that it found. Requests of a run stay the same from their beginning on, whatever is
    /// found. Anthropic and `OpenAI` Responses have that; not every model of theirs does. Anthropic searches by words unless
    /// [`ModelSettings::provider_tools`](crate::ModelSettings::provider_tools) has its search by regular expressions.
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

    /// Lets the provider's server compact the history of a request that has more tokens than this: it writes a summary, which its answer
    /// has and which goes back to it, and does not read again what came before. Anthropic (150,000 is usual, 50,000 the least) and the
    /// Responses API of `OpenAI` can. The record of a run keeps the whole history; a model of another server gets it whole.
    ///
    /// An agent with a [window](crate::AgentBuilder::window) leaves out repeated and long answers by itself from 3/4 of its room
    /// on: give a smaller number here, so that the provider goes first. What the provider keeps of approvals and open questions is its
    /// own choice, while an agent keeps those word for word.
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

    /// Limits the tokens of an answer. Where a request has a limit too, the smaller one counts.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Writes the limit of an answer's tokens as `max_tokens`, for servers of the chat API that do not know `max_completion_tokens`.
    pub fn plain_max_tokens(mut self) -> Self {
        self.knows_max_tokens_alone = true;
        self
    }

    /// Sets how much chance there is in the choice of words, unless the settings of a request say; see
    /// [`ModelSettings::temperature`](crate::ModelSettings::temperature).
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.sampling.temperature = Some(temperature);
        self
    }

    /// Sets the share of the likeliest words that are chosen from, unless the settings of a request say.
    pub fn top_p(mut self, share: f64) -> Self {
        self.sampling.top_p = Some(share);
        self
    }

    /// Sets from what chance begins, unless the settings of a request say.
    pub fn seed(mut self, seed: u64) -> Self {
        self.sampling.seed = Some(seed);
        self
    }

    /// Adds members to the body of every request: what a server has that the settings do not know, such as `top_k` of vLLM or
    /// `service_tier` of `OpenAI`. An object is added to the one that the body has of that name. [`build`](Self::build) refuses
    /// members that are the request itself: the history, the tools, the model, and how the answer comes.
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

    /// Sets how much this model reasons, whatever the settings of a request say: for one of several models whose providers have other
    /// steps, or none.
    pub fn reasoning(mut self, reasoning: Reasoning) -> Self {
        self.reasoning = Some(reasoning);
        self
    }

    /// Sets what the model reads beside text: set [`MediaSupport::None`] for one that takes no pictures, since its server would
    /// refuse every request with one. What it does not read becomes a sentence.
    pub fn media(mut self, media: MediaSupport) -> Self {
        self.media = media;
        self
    }

    /// Sets how often a request is tried, and how long after.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Limits how long a server's `retry-after` is waited for. The request fails where the server wants more, and where
    /// the run's own time would be over before.
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// Sets what tokens cost. A model without a price there gives answers whose cost is not known.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = prices;
        self
    }

    /// Is called with every exchange, whatever its status: to record them. A request without any response is none, nor is
    /// one whose answer came in pieces and broke off; an answer that came in pieces is the whole one that they make.
    pub fn on_exchange(mut self, listener: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        self.on_exchange = Some(Box::new(listener));
        self
    }

    /// Is called before a request is tried again.
    pub fn on_retry(mut self, listener: impl Fn(&Retrying<'_>) + Send + Sync + 'static) -> Self {
        self.on_retry = Some(Box::new(listener));
        self
    }
}

/// Without the key.
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
