//! A model: one request to one answer.

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

/// A model that can be asked. One request gives one answer or one error; it does its own retries.
///
/// Dropping the future gives up on the request.
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
    /// Its name, for transcripts and errors.
    fn name(&self) -> &str;

    /// The form in which it takes tools.
    fn dialect(&self) -> Dialect;

    /// Every form in which it may take tools: more than one for a model that asks others.
    fn dialects(&self) -> Vec<Dialect> {
        vec![self.dialect()]
    }

    /// Whose [`Verbatim`] it reads: its provider's name, with the server's where that is not the vendor's own.
    fn origin(&self) -> Option<&str> {
        self.dialect().provider().map(Provider::name)
    }

    /// Returns the first message that its server reads of a history, where the server has compacted the messages before it: an agent
    /// leaves these out of requests. 0, the default, for a model that reads every message.
    fn first_read(&self, history: &[Message]) -> usize {
        let _ = history;
        0
    }

    /// Whether it searches for deferred tools itself: an agent then lists them for it too, by
    /// [`Catalog::searchable_listing`].
    fn searches_tools(&self) -> bool {
        false
    }

    /// Whether it can be asked with these settings, and so many tokens for an answer: an agent checks that before its first run.
    ///
    /// # Errors
    /// When its provider has no such setting.
    fn check(&self, settings: &ModelSettings, max_tokens: Option<u32>) -> Result<(), ModelError> {
        let _ = (settings, max_tokens);
        Ok(())
    }

    /// Whether it writes this [`ModelRequest::output`] into its requests, so that the text of an answer follows it. An agent asks
    /// any other model to call a tool whose arguments are the value.
    fn takes_format(&self, format: &OutputFormat) -> bool {
        let _ = format;
        false
    }

    /// Asks it.
    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>>;

    /// Returns the most that a request of so many tokens costs whose answer has so many: what is reserved under a
    /// [`Ceiling`](crate::Ceiling) before it is sent. Nothing, the default, where the price is not known.
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

/// What a model is asked.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ModelRequest<'a> {
    /// What the application says to the model, before everything else; empty for nothing.
    pub instructions: &'a str,
    /// Everything so far. The last message is the user's, or holds answers, or is the model's own that was
    /// [paused](StopReason::Paused).
    pub history: &'a [Message],
    /// The tools, by [`Model::dialect`]. [`Listing::tools`] is the text to send, unchanged; [`Listing::tool_calls`] and
    /// [`Listing::tool_results`] translate names.
    pub listing: &'a Listing,
    /// How much the answer may take.
    pub limits: RequestLimits,
    /// How to answer.
    pub settings: &'a ModelSettings,
    /// The format that the text of the answer has to follow, for a model that [takes](Model::takes_format) it.
    pub output: Option<&'a OutputFormat>,
    /// The tools themselves, for a model that asks others in other forms.
    pub catalog: Option<&'a Catalog>,
    /// Who hears the answer as it comes. A model that cannot send it in pieces ignores this.
    pub listener: Option<&'a dyn DeltaListener>,
    /// Where the model notes what its requests take before they are answered. One that does not is counted as one request that
    /// may have cost something, where its answer is given up.
    pub usage_recorder: Option<&'a UsageRecorder>,
}

impl<'a> ModelRequest<'a> {
    /// Makes a request without instructions and limits.
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

    /// Adds the instructions: what providers call the system prompt.
    #[must_use]
    pub fn instructions(mut self, text: &'a str) -> Self {
        self.instructions = text;
        self
    }

    /// Adds the catalog whose tools these are.
    #[must_use]
    pub fn catalog(mut self, catalog: &'a Catalog) -> Self {
        self.catalog = Some(catalog);
        self
    }

    /// Adds who hears the answer as it comes.
    #[must_use]
    pub fn listener(mut self, listener: &'a dyn DeltaListener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Adds where to note what requests take before they are answered.
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

/// How much one answer of a model may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestLimits {
    /// The tokens of the answer; the model's own limit where there is none.
    pub max_tokens: Option<u32>,
    /// What is left of the run's time: the agent drops the request then. No retry needs to wait longer.
    pub time: Option<Duration>,
}

/// One answer of a model.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelAnswer {
    /// What it said. Texts before, between and after its calls are joined by an empty line.
    pub text: String,
    /// The calls, as [`Listing::tool_calls`] gives them.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it took, where the provider says so.
    pub usage: Option<Usage>,
    /// What that cost, where the model knows its price.
    pub cost: Option<Cost>,
    /// The date of the price list by which the cost was counted.
    pub prices: Option<String>,
    /// What requests for it took that failed, as far as their providers say so.
    pub failed: TotalUsage,
    /// What the provider requires back as it is.
    pub verbatim: Option<Verbatim>,
    /// The name of the model that gave it, where several could.
    pub model: Option<String>,
    /// What its request went without, because the model of another provider wrote it.
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

    /// Sets what the answer took.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets what that cost.
    #[must_use]
    pub fn cost(mut self, cost: Cost) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Sets the date of the price list by which the cost was counted; an empty one is that of a list without a date.
    #[must_use]
    pub fn prices_of(mut self, date: impl Into<String>) -> Self {
        self.prices = Some(date.into()).filter(|date: &String| !date.is_empty());
        self
    }

    /// Adds what requests for it took that failed.
    #[must_use]
    pub fn failed(mut self, failed: TotalUsage) -> Self {
        self.failed = self.failed.plus(failed);
        self
    }

    /// Returns what it took, with the requests for it that failed.
    #[must_use]
    pub fn spent(&self) -> TotalUsage {
        TotalUsage::of(self.usage, self.cost).plus(self.failed)
    }

    /// Sets the name of the model that gave it. An answer that names one stays its own.
    #[must_use]
    pub fn by(mut self, model: &str) -> Self {
        self.model.get_or_insert_with(|| model.to_owned());
        self
    }

    /// Adds what its request went without.
    #[must_use]
    pub fn with_omitted(mut self, omitted: Vec<Omitted>) -> Self {
        self.omitted = omitted;
        self
    }

    /// The answer without what the model said and called.
    pub(crate) fn without_content(&self) -> Self {
        let (text, calls) = (String::new(), Vec::new());
        Self { text, calls, verbatim: None, ..self.clone() }
    }

    /// Attaches what the provider requires back.
    #[must_use]
    pub fn verbatim(mut self, verbatim: Verbatim) -> Self {
        self.verbatim = Some(verbatim);
        self
    }
}

/// Without its text and arguments, which may hold secrets.
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
    /// It had said or called what it wanted to.
    Finished,
    /// The provider paused it in the middle of its own tools: asked again with this answer in the history, it goes on.
    Paused,
    /// A limit on tokens cut its text short; its calls are whole.
    CutShort,
    /// A limit on tokens cut the answer short in the middle of a call. That call is the last of the answer's calls, or is left out
    /// where the answer has none. The agent does not run it and answers that it was cut short.
    CutInCall,
    /// The model or its provider refused to go on; the text says why, where it was given.
    Refused,
}
