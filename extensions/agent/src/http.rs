//! A model over HTTP: makes one request, retries it after transient failures, and returns one answer.
//!
//! - Pure functions, in one file for each provider, decide what to send and what an answer means. Only `attempt` talks
//!   to the server.
//! - A request is retried by a [`RetryPolicy`], even if the server may have processed it: asking a model changes
//!   nothing.
//! - The key is sent in one header of each request. If the key comes from a command and the provider refuses the key,
//!   the command runs once more. The key does not appear in a `Debug`, an error or a recording, even if a server
//!   repeats it. A key of fewer than 7 bytes counts as a placeholder, and is not removed from what a server sends.

mod address;
mod anthropic;
mod api;
mod attempt;
mod builder;
mod compaction;
mod error;
mod extra_body;
mod fault;
mod gemini;
mod key;
mod openai_chat;
mod openai_responses;
mod parts;
mod presets;
mod settings;
mod streamed;
mod strict;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
/// The HTTP client library, in the version whose types [`HttpModelBuilder::client`] takes.
pub use reqwest;
use toolwright::Effect;
use toolwright::dialect::{Dialect, Listing};
use toolwright::provider::{MediaSupport, Provider};
use toolwright::retry::RetryPolicy;

use self::api::{Api, RequestTarget};
use self::attempt::Endpoint;
pub use self::builder::HttpModelBuilder;
pub use self::error::HttpModelError;
use self::extra_body::ExtraBody;
use self::fault::{Fault, FaultUsage};
pub use self::key::ApiKey;
use self::key::Secret;
use self::streamed::{Expense, Pieces};
use crate::history::Message;
use crate::limits::{Cost, Prices, TotalUsage, Usage, UsageRecorder};
use crate::model::{
    Model, ModelAnswer, ModelError, ModelRequest, ModelSettings, Omitted, OutputFormat, Passing,
    Reasoning,
};
use crate::recording::Exchange;

/// A model that a provider serves over HTTP.
///
/// ```
/// use std::time::Duration;
/// use toolwright::retry::RetryPolicy;
/// use toolwright_agent::Model as _;
/// use toolwright_agent::http::HttpModel;
///
/// let model = HttpModel::anthropic("some-model")
///     .base_url("http://127.0.0.1:8000/anthropic")
///     .key("not to be shown")
///     .timeout(Duration::from_secs(120))
///     .retry(RetryPolicy::NETWORK.attempts(5))
///     .build()?;
/// assert_eq!(model.name(), "some-model");
/// assert!(!format!("{model:?}").contains("not to be shown"));
/// # Ok::<(), toolwright_agent::http::HttpModelError>(())
/// ```
pub struct HttpModel {
    endpoint: Endpoint,
    model: String,
    /// The origin of the verbatim content that the model can read.
    origin: Arc<str>,
    searches_tools: bool,
    /// Whether the server compacts histories.
    compacts: bool,
    max_tokens: Option<u32>,
    knows_max_tokens_alone: bool,
    reasoning: Option<Reasoning>,
    sampling: Sampling,
    extra_body: ExtraBody,
    media: MediaSupport,
    retry: RetryPolicy,
    longest_wait: Duration,
    prices: Prices,
    on_exchange: Option<OnExchange>,
    on_retry: Option<OnRetry>,
}

/// Sampling options, which the settings of a request override.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sampling {
    temperature: Option<f64>,
    top_p: Option<f64>,
    seed: Option<u64>,
}

type OnExchange = Box<dyn Fn(Exchange) + Send + Sync>;
type OnRetry = Box<dyn Fn(&Retrying<'_>) + Send + Sync>;

/// A request that failed and is retried.
///
/// ```
/// use toolwright_agent::http::HttpModel;
///
/// let builder = HttpModel::openai_chat("some-model")
///     .on_retry(|retrying| eprintln!("{}; attempt {} failed", retrying.message, retrying.attempt));
/// # let _ = builder;
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Retrying<'a> {
    /// The attempt that failed, counted from 1.
    pub attempt: u32,
    /// Why the attempt failed.
    pub message: &'a str,
    /// How long the model waits before the next attempt.
    pub wait: Duration,
}

#[cfg(test)]
impl HttpModel {
    /// Returns the URL of requests.
    pub(crate) fn address(&self) -> &str {
        self.endpoint.url.as_str()
    }
}

impl HttpModel {
    /// Returns a builder for a model of Anthropic's Messages API.
    pub fn anthropic(model: impl Into<String>) -> HttpModelBuilder {
        HttpModelBuilder::new(Api::Anthropic, model.into())
    }

    /// Returns a builder for a model of `OpenAI`'s Chat Completions API, or of a server that imitates this API.
    pub fn openai_chat(model: impl Into<String>) -> HttpModelBuilder {
        HttpModelBuilder::new(Api::OpenAiChat, model.into())
    }

    /// Returns a builder for a model of `OpenAI`'s Responses API. Requests ask the server to store nothing.
    pub fn openai_responses(model: impl Into<String>) -> HttpModelBuilder {
        HttpModelBuilder::new(Api::OpenAiResponses, model.into())
    }

    /// Returns a builder for a model of Google's Gemini API.
    pub fn gemini(model: impl Into<String>) -> HttpModelBuilder {
        HttpModelBuilder::new(Api::Gemini, model.into())
    }

    /// Returns a builder for a model of this provider's API.
    ///
    /// # Errors
    /// When this release does not know the provider's API.
    pub fn of(
        provider: Provider,
        model: impl Into<String>,
    ) -> Result<HttpModelBuilder, HttpModelError> {
        let api = match provider {
            Provider::Anthropic => Api::Anthropic,
            Provider::OpenAiChat => Api::OpenAiChat,
            Provider::OpenAiResponses => Api::OpenAiResponses,
            Provider::Gemini => Api::Gemini,
            other => return Err(HttpModelError::Provider { provider: other }),
        };
        Ok(HttpModelBuilder::new(api, model.into()))
    }

    /// Returns the body of a request as JSON without sending it, for instance to count its tokens.
    ///
    /// # Errors
    /// When the provider does not support the settings of the request, or its API cannot represent the history.
    pub fn body(&self, request: &ModelRequest<'_>) -> Result<String, ModelError> {
        let to = RequestTarget {
            model: &self.model,
            origin: &self.origin,
            max_tokens: self.max_tokens(request.limits.max_tokens),
            media: self.media,
            knows_max_tokens_alone: self.knows_max_tokens_alone,
            compacts: self.compacts,
        };
        let settings = self.settings(request.settings);
        let history = &request.history[self.first_read(request.history)..];
        let request = ModelRequest { settings: &settings, history, ..*request };
        let body = self.endpoint.api.body(&to, &request)?;
        self.extra_body.added_to(body)
    }

    async fn ask(&self, request: ModelRequest<'_>) -> Result<ModelAnswer, ModelError> {
        let body = self.body(&request)?;
        let passing = request.listener.map(Passing::new);
        let own = UsageRecorder::default();
        let meter = request.usage_recorder.unwrap_or(&own);
        let begun = Instant::now();
        let (mut attempt, mut asked, mut failed) = (1, 0, TotalUsage::default());
        let mut may_refresh = true;
        let left = || request.limits.time.map(|time| time.saturating_sub(begun.elapsed()));
        loop {
            let keys = &self.endpoint.keys;
            let key = within(left(), Fault::late_key, keys.current()).await;
            let key = key.map_err(|fault| self.endpoint.error(fault, None, 0))?;
            let key = key.as_ref();
            asked += 1;
            meter.begin();
            let pieces = passing.as_ref().map(|to| {
                let expense = Expense { model: self, meter };
                Pieces::new(request.listing, key, to, expense)
            });
            let attempt_of = self.attempt(&body, key, request.listing, pieces);
            let fault = match within(left(), Fault::late_answer, attempt_of).await {
                Ok(answer) => {
                    let omitted = Omitted::of(request.history, &self.origin);
                    return Ok(self.priced(answer).failed(failed).with_omitted(omitted));
                }
                Err(fault) => fault,
            };
            let taken = match &fault.taken {
                FaultUsage::Nothing => TotalUsage::default(),
                FaultUsage::SoFar => meter.under_way(),
                FaultUsage::Whole(usage) => self.spent(**usage),
            };
            meter.ended(taken);
            failed = failed.plus(taken);
            let longest = left().map_or(self.longest_wait, |left| left.min(self.longest_wait));
            let wait = if fault.kind == "wrong_key" && std::mem::take(&mut may_refresh) {
                match within(left(), Fault::late_key, keys.has_other_than(key)).await {
                    Ok(true) => Ok(Duration::ZERO),
                    Ok(false) => Err(fault.clone()),
                    Err(fault) => Err(fault),
                }
            } else {
                attempt += 1;
                self.wait(attempt - 1, &fault, longest, fastrand::u64(..))
            };
            match wait {
                Ok(wait) => {
                    if let Some(on_retry) = &self.on_retry {
                        let message = self.endpoint.words(&fault, key);
                        on_retry(&Retrying { attempt: asked, message: &message, wait });
                    }
                    if let Some(passing) = &passing {
                        passing.restart();
                    }
                    tokio::time::sleep(wait).await;
                }
                Err(fault) => return Err(self.endpoint.error(fault, key, asked).taking(failed)),
            }
        }
    }

    /// Makes one attempt and reads its response. Before the method returns an answer, the listener has received all of
    /// it.
    async fn attempt(
        &self,
        body: &str,
        key: Option<&Secret>,
        listing: &Listing,
        pieces: Option<Pieces<'_>>,
    ) -> Result<ModelAnswer, Fault> {
        let endpoint = &self.endpoint;
        let mut pieces = pieces.map(Some);
        let received = endpoint.post(body, key, pieces.as_mut()).await?;
        if let Some(on_exchange) = &self.on_exchange {
            let path = if pieces.is_some() { &endpoint.stream_path } else { &endpoint.path };
            if let Some(exchange) = received.exchange(path, body) {
                on_exchange(exchange);
            }
        }
        let text = received.whole()?;
        let answer = endpoint.api.answer(&text, listing);
        let mut answer = answer.map_err(|fault| fault.after_end(endpoint.api.usage_in(&text)))?;
        answer.verbatim = answer.verbatim.map(|verbatim| verbatim.written_by(&self.origin));
        if let Some(pieces) = pieces.flatten() {
            pieces.came_whole(&answer);
        }
        Ok(answer)
    }

    fn priced(&self, answer: ModelAnswer) -> ModelAnswer {
        match self.cost(answer.usage) {
            Some(cost) => answer.cost(cost).prices_of(self.prices.date()),
            None => answer,
        }
    }

    fn spent(&self, usage: Usage) -> TotalUsage {
        TotalUsage::of(Some(usage), self.cost(Some(usage)))
    }

    fn cost(&self, usage: Option<Usage>) -> Option<Cost> {
        Some(self.prices.of(&self.model)?.cost(usage?))
    }

    /// Returns how long to wait before the next attempt, or the fault with which the request ends.
    fn wait(
        &self,
        attempt: u32,
        fault: &Fault,
        longest: Duration,
        random: u64,
    ) -> Result<Duration, Fault> {
        let next = self.retry.next(attempt, fault.class, Effect::Read, random);
        let Ok(wait) = next else { return Err(fault.clone()) };
        let wait = wait.max(fault.retry_after.unwrap_or_default());
        if wait <= longest {
            return Ok(wait);
        }
        let message = format!(
            "{}; it is not asked again, because it asks callers to wait {} s, and the request may wait at most {} s",
            fault.message,
            wait.as_secs_f64().ceil(),
            longest.as_secs(),
        );
        Err(Fault { message, ..fault.clone() })
    }

    /// Returns the settings of a request with the options of this model: the model's reasoning replaces that of the
    /// request, and the model's sampling options apply where the request sets none.
    fn settings<'a>(&self, settings: &'a ModelSettings) -> Cow<'a, ModelSettings> {
        let Sampling { temperature, top_p, seed } = self.sampling;
        if self.reasoning.is_none() && self.sampling == Sampling::default() {
            return Cow::Borrowed(settings);
        }
        Cow::Owned(ModelSettings {
            reasoning: self.reasoning.or(settings.reasoning),
            temperature: settings.temperature.or(temperature),
            top_p: settings.top_p.or(top_p),
            seed: settings.seed.or(seed),
            ..settings.clone()
        })
    }

    fn max_tokens(&self, wanted: Option<u32>) -> Option<u32> {
        match (self.max_tokens, wanted) {
            (Some(own), Some(wanted)) => Some(own.min(wanted)),
            (own, wanted) => own.or(wanted),
        }
    }
}

/// Takes a step of a request within the time that is left for the whole request.
async fn within<T>(
    left: Option<Duration>,
    late: impl FnOnce() -> Fault,
    step: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let Some(left) = left else { return step.await };
    tokio::time::timeout(left, step).await.unwrap_or_else(|_| Err(late()))
}

impl Model for HttpModel {
    fn name(&self) -> &str {
        &self.model
    }

    fn dialect(&self) -> Dialect {
        self.endpoint.api.provider().into()
    }

    fn origin(&self) -> Option<&str> {
        Some(&self.origin)
    }

    fn first_read(&self, history: &[Message]) -> usize {
        match self.compacts {
            true => compaction::first_read(self.endpoint.api.provider(), history, &self.origin),
            false => 0,
        }
    }

    fn searches_tools(&self) -> bool {
        self.searches_tools
    }

    fn check(&self, settings: &ModelSettings, max_tokens: Option<u32>) -> Result<(), ModelError> {
        self.endpoint.api.check(&self.settings(settings), self.max_tokens(max_tokens))
    }

    /// Returns whether the server is asked to enforce this format, which is the case only for `OpenAI`'s own server.
    /// Servers that imitate it are more likely to support tools than formats.
    fn takes_format(&self, format: &OutputFormat) -> bool {
        let api = self.endpoint.api;
        *self.origin == *api.provider().name() && strict::schema(api.provider(), format).is_some()
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(self.ask(request))
    }

    /// Returns the window that the price list contains for the model; `None` if the server compacts histories, because
    /// then the agent need not shorten them.
    fn window(&self) -> Option<u64> {
        if self.compacts { None } else { self.prices.of(&self.model)?.window }
    }

    fn most_cost(&self, input_tokens: u64, output_tokens: u64) -> Option<Cost> {
        Some(self.prices.of(&self.model)?.most(input_tokens, output_tokens))
    }
}

/// Omits the key.
impl fmt::Debug for HttpModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HttpModel")
            .field("provider", &self.endpoint.api.provider().name())
            .field("url", &self.endpoint.place())
            .field("model", &self.model)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
