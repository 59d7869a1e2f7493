//! The interface of a model: a request, and its answer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use toolwright::Catalog;
use toolwright::dialect::{Dialect, Listing};
use toolwright::provider::{Provider, ToolCall};

use super::settings::DEFAULT;
use crate::history::{Message, Verbatim};
use crate::limits::{Cost, TotalUsage, Usage, UsageRecorder};
use crate::model::{DeltaListener, ModelError, ModelSettings, Omitted, OutputFormat};

/// A model that an agent can ask. Each request gives one answer or one error; the model retries requests itself.
///
/// If the future of [`answer`](Self::answer) is dropped, the request is abandoned.
///
/// ```
/// use futures::future::BoxFuture;
/// use toolwright::dialect::Dialect;
/// use toolwright_agent::{Model, ModelAnswer, ModelError, ModelRequest};
///
/// /// Counts the messages and says so.
/// struct Counting;
///
/// impl Model for Counting {
///     fn name(&self) -> &str {
///         "counting"
///     }
///
///     fn dialect(&self) -> Dialect {
///         Dialect::Anthropic
///     }
///
///     fn answer<'a>(&'a self, request: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
///         Box::pin(async move { Ok(ModelAnswer::text(format!("{} messages", request.history.len()))) })
///     }
/// }
/// ```
pub trait Model: Send + Sync {
    /// Returns the name of the model, for transcripts and errors.
    fn name(&self) -> &str;

    /// Returns the dialect in which the model accepts tools.
    fn dialect(&self) -> Dialect;

    /// Returns every dialect in which the model may accept tools. A model that forwards requests to other models has
    /// more than one.
    fn dialects(&self) -> Vec<Dialect> {
        vec![self.dialect()]
    }

    /// Returns the origin whose [`Verbatim`] content the model reads: the name of its provider, and the host of a
    /// server that is not the vendor's own.
    fn origin(&self) -> Option<&str> {
        self.dialect().provider().map(Provider::name)
    }

    /// Returns the index of the first message that the model's server reads; by default 0. The index is above 0 if the
    /// server has compacted the messages before it. An agent leaves these messages out of requests.
    fn first_read(&self, history: &[Message]) -> usize {
        let _ = history;
        0
    }

    /// Returns the size of the model's context window in tokens, if it is known. An agent whose builder sets no
    /// [`window`](crate::AgentBuilder::window) shortens a history that outgrows this window. By default `None`.
    fn window(&self) -> Option<u64> {
        None
    }

    /// Returns whether the model's provider searches deferred tools itself. An agent then lists these tools by
    /// [`Catalog::searchable_listing`].
    fn searches_tools(&self) -> bool {
        false
    }

    /// Checks that the model supports these settings and this limit on the tokens of an answer. Building an agent calls
    /// this method.
    ///
    /// # Errors
    /// When the model's provider does not support a setting.
    fn check(&self, settings: &ModelSettings, max_tokens: Option<u32>) -> Result<(), ModelError> {
        let _ = (settings, max_tokens);
        Ok(())
    }

    /// Returns whether the model sends [`ModelRequest::output`] to its provider, so that the text of an answer follows
    /// the format. An agent asks a model that does not do this to call a tool whose arguments are the value.
    fn takes_format(&self, format: &OutputFormat) -> bool {
        let _ = format;
        false
    }

    /// Sends a request, and returns the answer.
    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>>;

    /// Returns the maximum cost of a request and its answer with these numbers of tokens; by default `None`, which
    /// means that the price is not known. A [`Ceiling`](crate::Ceiling) reserves this cost before the request is sent.
    fn most_cost(&self, _input_tokens: u64, _output_tokens: u64) -> Option<Cost> {
        None
    }
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn dialect(&self) -> Dialect {
        (**self).dialect()
    }

    fn dialects(&self) -> Vec<Dialect> {
        (**self).dialects()
    }

    fn origin(&self) -> Option<&str> {
        (**self).origin()
    }

    fn window(&self) -> Option<u64> {
        (**self).window()
    }

    fn first_read(&self, history: &[Message]) -> usize {
        (**self).first_read(history)
    }

    fn searches_tools(&self) -> bool {
        (**self).searches_tools()
    }

    fn check(&self, settings: &ModelSettings, max_tokens: Option<u32>) -> Result<(), ModelError> {
        (**self).check(settings, max_tokens)
    }

    fn takes_format(&self, format: &OutputFormat) -> bool {
        (**self).takes_format(format)
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        (**self).answer(request)
    }

    fn most_cost(&self, input_tokens: u64, output_tokens: u64) -> Option<Cost> {
        (**self).most_cost(input_tokens, output_tokens)
    }
}

/// A request to a model.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ModelRequest<'a> {
    /// The system prompt; empty for none.
    pub instructions: &'a str,
    /// The whole history. The last message is a message of the user, or has answers to calls, or is an answer of the
    /// model that was [paused](StopReason::Paused).
    pub history: &'a [Message],
    /// The tools in the form of [`Model::dialect`]. Send the text of [`Listing::tools`] unchanged;
    /// [`Listing::tool_calls`] and [`Listing::tool_results`] translate names.
    pub listing: &'a Listing,
    /// The limits on the answer.
    pub limits: RequestLimits,
    /// Options of the request.
    pub settings: &'a ModelSettings,
    /// The format that the text of the answer has to follow, for a model that [supports](Model::takes_format) it.
    pub output: Option<&'a OutputFormat>,
    /// The definitions of the tools, for a model that forwards requests in other dialects.
    pub catalog: Option<&'a Catalog>,
    /// The listener that gets the answer as it arrives. A model that cannot stream ignores the listener.
    pub listener: Option<&'a dyn DeltaListener>,
    /// The recorder to which the model reports the usage of requests that are not answered yet. If the model does not
    /// report this usage, an abandoned request counts as one that may have cost something.
    pub usage_recorder: Option<&'a UsageRecorder>,
}

impl<'a> ModelRequest<'a> {
    /// Makes a request with an empty system prompt and without limits.
    #[must_use]
    pub fn new(history: &'a [Message], listing: &'a Listing) -> Self {
        let limits = RequestLimits::default();
        Self {
            instructions: "",
            history,
            listing,
            limits,
            settings: &DEFAULT,
            output: None,
            catalog: None,
            listener: None,
            usage_recorder: None,
        }
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn instructions(mut self, text: &'a str) -> Self {
        self.instructions = text;
        self
    }

    /// Adds the catalog that has the definitions of the listed tools.
    #[must_use]
    pub fn catalog(mut self, catalog: &'a Catalog) -> Self {
        self.catalog = Some(catalog);
        self
    }

    /// Adds a listener that gets the answer as it arrives.
    #[must_use]
    pub fn listener(mut self, listener: &'a dyn DeltaListener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Adds a recorder for the usage of requests that are not answered yet.
    #[must_use]
    pub fn usage_recorder(mut self, recorder: &'a UsageRecorder) -> Self {
        self.usage_recorder = Some(recorder);
        self
    }

    /// Adds settings.
    #[must_use]
    pub fn settings(mut self, settings: &'a ModelSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Adds the format that the text of the answer has to follow.
    #[must_use]
    pub fn output(mut self, format: &'a OutputFormat) -> Self {
        self.output = Some(format);
        self
    }

    /// Adds limits.
    #[must_use]
    pub fn limits(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }
}

/// The limits on one answer of a model: its tokens and its time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestLimits {
    /// The maximum tokens of the answer; the model's own limit if `None`.
    pub max_tokens: Option<u32>,
    /// The time that the run has left. The agent drops the request when this time is up, so no retry needs to wait
    /// longer.
    pub time: Option<Duration>,
}

/// One answer of a model.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelAnswer {
    /// The text of the answer. Texts before, between and after calls are joined by an empty line.
    pub text: String,
    /// The calls of tools in the answer, as [`Listing::tool_calls`] returns them.
    pub calls: Vec<ToolCall>,
    /// Why the model stopped.
    pub stop: StopReason,
    /// The usage of the answer, if the provider reports it.
    pub usage: Option<Usage>,
    /// The cost of the answer, if the model knows its price.
    pub cost: Option<Cost>,
    /// The date of the price list by which the cost was computed.
    pub prices: Option<String>,
    /// The usage of failed requests for this answer, if their providers report it.
    pub failed: TotalUsage,
    /// Content that the provider requires back verbatim.
    pub verbatim: Option<Verbatim>,
    /// The name of the model that gave the answer, if a [`Fallback`](crate::Fallback) chose the model.
    pub model: Option<String>,
    /// The content that the request omitted, because only another provider's model can read it.
    pub omitted: Vec<Omitted>,
}

impl ModelAnswer {
    /// Makes an answer that is a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(text, Vec::new())
    }

    /// Makes an answer that calls tools, after a text that may be empty.
    pub fn new(text: impl Into<String>, calls: Vec<ToolCall>) -> Self {
        let stop = StopReason::Finished;
        Self {
            text: text.into(),
            calls,
            stop,
            usage: None,
            cost: None,
            prices: None,
            failed: TotalUsage::default(),
            verbatim: None,
            model: None,
            omitted: Vec::new(),
        }
    }

    /// Sets why the model stopped.
    #[must_use]
    pub fn stopped(mut self, stop: StopReason) -> Self {
        self.stop = stop;
        self
    }

    /// Sets the usage of the answer.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the cost of the answer.
    #[must_use]
    pub fn cost(mut self, cost: Cost) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Sets the date of the price list by which the cost was computed; an empty date counts as none.
    #[must_use]
    pub fn prices_of(mut self, date: impl Into<String>) -> Self {
        self.prices = Some(date.into()).filter(|date: &String| !date.is_empty());
        self
    }

    /// Adds the usage of failed requests for this answer.
    #[must_use]
    pub fn failed(mut self, failed: TotalUsage) -> Self {
        self.failed = self.failed.plus(failed);
        self
    }

    /// Returns the usage and the cost of the answer and of the failed requests for it.
    #[must_use]
    pub fn spent(&self) -> TotalUsage {
        TotalUsage::of(self.usage, self.cost).plus(self.failed)
    }

    /// Sets the name of the model that gave the answer, unless the answer has a name already.
    #[must_use]
    pub fn by(mut self, model: &str) -> Self {
        self.model.get_or_insert_with(|| model.to_owned());
        self
    }

    /// Sets the content of the history that the answer's request omitted.
    #[must_use]
    pub fn with_omitted(mut self, omitted: Vec<Omitted>) -> Self {
        self.omitted = omitted;
        self
    }

    /// Returns the answer without its text and calls.
    pub(crate) fn without_content(&self) -> Self {
        let (text, calls) = (String::new(), Vec::new());
        Self { text, calls, verbatim: None, ..self.clone() }
    }

    /// Adds content that the provider requires back verbatim.
    #[must_use]
    pub fn verbatim(mut self, verbatim: Verbatim) -> Self {
        self.verbatim = Some(verbatim);
        self
    }
}

/// Omits text and arguments, which may hold secrets.
impl fmt::Debug for ModelAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ModelAnswer")
            .field("text_bytes", &self.text.len())
            .field("calls", &self.calls)
            .field("stop", &self.stop)
            .field("usage", &self.usage)
            .field("cost", &self.cost)
            .field("prices", &self.prices)
            .field("failed", &self.failed)
            .field("verbatim", &self.verbatim)
            .field("model", &self.model)
            .field("omitted", &self.omitted)
            .finish()
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The answer is complete.
    Finished,
    /// The provider paused the answer while it ran its own tools. To continue, send a request with this answer in the
    /// history.
    Paused,
    /// A token limit cut the text of the answer short. The calls of the answer are complete.
    CutShort,
    /// A token limit cut the answer short in the middle of a call. If the answer has calls, the last of them is the
    /// incomplete call, which the agent does not run and answers with an error. If the answer has none, the incomplete
    /// call was left out.
    CutInCall,
    /// The model or its provider refused to answer; the text says why, if a reason was given.
    Refused,
}
