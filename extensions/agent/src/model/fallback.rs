//! Several models that act as one. If a model fails, the next is asked.
//!
//! - A model that failed rests for [`FallbackBuilder::rest`], or for longer if its provider asks for that. While it
//!   rests, the next model in order is asked. If all others have failed, too, the model is asked in spite of its rest.
//!   After its rest, it is again preferred to the models after it.
//! - A request that every provider would refuse, with an invalid history for instance, is not sent to another model.
//! - The next model gets the same history, with calls and answers translated. Content that only another provider can
//!   read is omitted, and reported in [`FellBack::omitted`].

mod builder;
mod decide;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;
use toolwright::ErrorClass;
use toolwright::dialect::Dialect;

pub use self::builder::FallbackBuilder;
use self::decide::{Rest, next, rest_after};
use crate::history::Message;
use crate::limits::{Cost, TotalUsage, UsageRecorder};
use crate::model::{
    DeltaListener, Model, ModelAnswer, ModelError, ModelRequest, ModelSettings, Omitted, Passing,
};

/// Several models as one, in order of preference.
///
/// ```
/// use toolwright::{Executor, Registry};
/// use toolwright_agent::{Agent, RunEnd, Fallback, ModelError, ScriptedModel};
/// use toolwright::ErrorClass;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let busy = ModelError::new("overloaded", "busy").class(ErrorClass::NotStarted { retry_after: None });
/// let model = Fallback::builder(ScriptedModel::new().fails(busy))
///     .then(ScriptedModel::new().says("Hello."))
///     .on_fallback(|it| eprintln!("{} failed ({}); {} is asked", it.from, it.error, it.to))
///     .build();
/// let executor = Executor::builder(Registry::empty()).build()?;
/// let mut run = Agent::on(executor, model).build()?.new_run("greetings").start()?;
/// assert!(matches!(run.send("Good morning!").await?, RunEnd::Text { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Fallback {
    models: Vec<Box<dyn Model>>,
    rest: Duration,
    budget: Option<Duration>,
    on_fallback: Option<OnFallback>,
    resting: Mutex<Vec<Option<Resting>>>,
}

/// A model that failed and is not asked for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Resting {
    until: Instant,
    /// Whether the model failed because it was unavailable, as after a status 429, so that it recovers by itself.
    is_away: bool,
}

/// How much longer than its time limit a model may take before its request is dropped.
const GRACE: Duration = Duration::from_millis(200);

type OnFallback = Box<dyn Fn(&FellBack<'_>) + Send + Sync>;

/// The event that a model failed and the next model is asked.
///
/// ```
/// use toolwright_agent::FellBack;
///
/// fn in_words(it: &FellBack<'_>) -> String {
///     format!("{} failed ({}); {} is asked", it.from, it.error.kind(), it.to)
/// }
/// # let _ = in_words;
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FellBack<'a> {
    /// The name of the model that failed.
    pub from: &'a str,
    /// The error of the model that failed.
    pub error: &'a ModelError,
    /// The name of the model that is asked next.
    pub to: &'a str,
    /// The content that the next request omits, because only another provider's model can read it.
    pub omitted: &'a [Omitted],
}

impl Fallback {
    /// Returns a builder with the preferred model.
    pub fn builder(first: impl Model + 'static) -> FallbackBuilder {
        FallbackBuilder::new(Box::new(first))
    }

    async fn ask(&self, request: ModelRequest<'_>) -> Result<ModelAnswer, ModelError> {
        let passing = request.listener.map(Passing::new);
        let listener = passing.as_ref().map(|it| it as &dyn DeltaListener);
        let own = UsageRecorder::default();
        let meter = request.usage_recorder.unwrap_or(&own);
        // If this fallback is one of another fallback's models, the meter already contains earlier failures.
        let before = meter.failed();
        let request = ModelRequest { listener, usage_recorder: Some(meter), ..request };
        let begun = Instant::now();
        let mut failed = TotalUsage::default();
        let mut asked = vec![false; self.models.len()];
        let mut current = self.next(&asked, begun).unwrap_or_default();
        // The first error of a model that is unavailable only for a while. It is returned in place of a final error of
        // a later model, so that the caller waits.
        let mut away: Option<ModelError> = None;
        loop {
            asked[current] = true;
            meter.begin();
            let answered = self.answer_of(current, request, begun, &asked).await;
            // If the model's time was up, there is no error with the usage, so the usage comes from the meter.
            let given_up =
                |error: ModelError| error.taking(meter.taken().since(before.plus(failed)));
            let error = match answered.unwrap_or_else(|error| Err(given_up(error))) {
                Ok(answer) => {
                    self.resting()[current] = None;
                    return Ok(answer.failed(failed).by(self.models[current].name()));
                }
                Err(error) => error,
            };
            failed = failed.plus(error.spent());
            let error = error.taking(failed);
            // The usage of the error replaces that of the meter, because not every model notes its usage in the meter.
            meter.all_failed(before.plus(failed));
            let now = Instant::now();
            match rest_after(&error, self.rest) {
                // The application's tools are invalid, so waiting does not help.
                Rest::None if error.kind() == "invalid_tools" => return Err(error),
                Rest::None => return Err(self.worth_a_wait(away, error, &asked, failed)),
                Rest::ThisRequest => {}
                Rest::For(rest) => {
                    // Another run may have recorded a longer rest for this model.
                    let resting = &mut self.resting()[current];
                    let is_away = error.is_outage();
                    let next = now.checked_add(rest).map(|until| Resting { until, is_away });
                    *resting = (*resting).max(next);
                }
            }
            let is_over = self.budget.is_some_and(|budget| begun.elapsed() >= budget);
            let following = self.next(&asked, now);
            let (Some(following), false) = (following, is_over) else {
                let error = match error.is_outage() {
                    true => error,
                    false => self.worth_a_wait(away, error, &asked, failed),
                };
                return Err(self.failed(error, &asked, is_over));
            };
            if let Some(on_fallback) = &self.on_fallback {
                let (from, to) = (self.models[current].name(), self.models[following].name());
                let origin = self.models[following].origin();
                let omitted = origin.map(|it| Omitted::of(request.history, it));
                let omitted = &omitted.unwrap_or_default()[..];
                on_fallback(&FellBack { from, error: &error, to, omitted });
            }
            if let Some(passing) = &passing {
                passing.restart();
            }
            current = following;
            if error.is_outage() {
                away.get_or_insert(error);
            }
        }
    }

    /// Asks a model within its share of the time. The outer error says that this time was up.
    async fn answer_of(
        &self,
        index: usize,
        mut request: ModelRequest<'_>,
        begun: Instant,
        asked: &[bool],
    ) -> Result<Result<ModelAnswer, ModelError>, ModelError> {
        let model = &*self.models[index];
        let Some(budget) = self.budget else {
            return Ok(self.ask_in_dialect(model, request).await);
        };
        // Each model gets a share of the time, so that some time is left for later models if this model hangs.
        let others = asked.iter().filter(|asked| !**asked).count();
        let left = budget.saturating_sub(begun.elapsed());
        let share = left / u32::try_from(others + 1).unwrap_or(u32::MAX);
        request.limits.time = Some(request.limits.time.map_or(share, |time| time.min(share)));
        // A model that observes the time limit itself returns an error with its usage, and gets some more time to do
        // so.
        let answered =
            tokio::time::timeout(share + GRACE, self.ask_in_dialect(model, request)).await;
        answered.map_err(|_| {
            let message = format!(
                "{} gave no whole answer within {:.1} s, its share of the time for all models; set a larger `budget` where its answers take longer",
                model.name(),
                share.as_secs_f64(),
            );
            ModelError::new("no_response", message).class(ErrorClass::Transient)
        })
    }

    async fn ask_in_dialect(
        &self,
        model: &dyn Model,
        request: ModelRequest<'_>,
    ) -> Result<ModelAnswer, ModelError> {
        let (wanted, given) = (model.dialect(), request.listing.dialect());
        // Only a model that searches for deferred tools gets them.
        let searches = model.searches_tools();
        let is_for_it = searches || !request.listing.has_deferred();
        if wanted == given && is_for_it && (!searches || request.catalog.is_none()) {
            return model.answer(request).await;
        }
        let listing = request.catalog.ok_or_else(|| {
            let message = format!(
                "the request has tools for {given} alone, and {} wants them for {wanted}; ask it through an `Agent`, or give the request the catalog",
                model.name()
            );
            ModelError::new("invalid_tools", message)
        })?;
        let listing = match searches {
            true => listing.searchable_listing(wanted),
            false => listing.listing(wanted),
        };
        let listing = listing.map_err(|error| {
            let message = format!("{} does not take the tools", model.name());
            ModelError::new("invalid_tools", message).caused_by(error)
        })?;
        let request = ModelRequest { listing: &listing, ..request };
        model.answer(request).await
    }

    fn next(&self, asked: &[bool], now: Instant) -> Option<usize> {
        let resting = self.resting();
        let left: Vec<Option<Duration>> = resting
            .iter()
            .map(|it| it.map(|resting| resting.until.saturating_duration_since(now)))
            .collect();
        next(&left, asked)
    }

    /// Returns the error of a model that was unavailable, or that still rests, in place of a final error, because the
    /// request may succeed when that model is available again.
    fn worth_a_wait(
        &self,
        away: Option<ModelError>,
        error: ModelError,
        asked: &[bool],
        failed: TotalUsage,
    ) -> ModelError {
        if let Some(first) = away {
            return first.taking(failed);
        }
        let now = Instant::now();
        let resting = self.resting();
        let rests =
            resting.iter().zip(asked).zip(&self.models).filter_map(|((it, asked), model)| {
                let rests = it.filter(|it| it.is_away && it.until > now && !asked)?;
                Some((rests.until.duration_since(now), model.name()))
            });
        let Some((left, name)) = rests.min() else { return error };
        let message = format!(
            "{name} is left alone for {:.0} s, because it was away, and no other model takes the request; ask again then. Last: {}",
            left.as_secs_f64().ceil(),
            error.message()
        );
        let class = ErrorClass::NotStarted { retry_after: Some(left) };
        ModelError::new("model_rests", message).class(class).taking(failed)
    }

    fn failed(&self, last: ModelError, asked: &[bool], is_over: bool) -> ModelError {
        let names = self.models.iter().zip(asked).filter(|(_, asked)| **asked);
        let names: Vec<&str> = names.map(|(model, _)| model.name()).collect();
        let why = if is_over { "; the time for all of them is over" } else { "" };
        let message = format!("no model answered ({} asked{why}): {last}", names.join(", "));
        let (kind, class) = (last.kind().to_owned(), last.classified());
        let error = ModelError::new(kind, message).class(class).taking(last.spent());
        let error = match last.context_size() {
            Some(size) => error.too_long(size),
            None => error,
        };
        match last.retry_after() {
            Some(delay) if !matches!(class, ErrorClass::NotStarted { .. }) => error.after(delay),
            _ => error,
        }
    }

    fn resting(&self) -> std::sync::MutexGuard<'_, Vec<Option<Resting>>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model for Fallback {
    /// Returns the name of the preferred model.
    fn name(&self) -> &str {
        self.models[0].name()
    }

    fn dialect(&self) -> Dialect {
        self.models[0].dialect()
    }

    /// Returns the highest cost of all models, if the price of each is known.
    fn most_cost(&self, input_tokens: u64, output_tokens: u64) -> Option<Cost> {
        let costs = self.models.iter().map(|it| it.most_cost(input_tokens, output_tokens));
        costs.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Returns the smallest known window, so that a history fits every model.
    fn window(&self) -> Option<u64> {
        self.models.iter().filter_map(|it| it.window()).min()
    }

    fn dialects(&self) -> Vec<Dialect> {
        self.models.iter().flat_map(|model| model.dialects()).collect()
    }

    /// Returns the origin of the preferred model.
    fn origin(&self) -> Option<&str> {
        self.models[0].origin()
    }

    /// Returns the index of the first message that any of the models reads: 0, unless the servers of all models have
    /// compacted the history.
    fn first_read(&self, history: &[Message]) -> usize {
        self.models.iter().map(|model| model.first_read(history)).min().unwrap_or(0)
    }

    /// Returns whether the provider of any of the models searches for tools.
    fn searches_tools(&self) -> bool {
        self.models.iter().any(|model| model.searches_tools())
    }

    /// Checks the settings with every model, so that no model refuses them when that model is needed.
    fn check(&self, settings: &ModelSettings, max_tokens: Option<u32>) -> Result<(), ModelError> {
        self.models.iter().try_for_each(|model| model.check(settings, max_tokens))
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(self.ask(request))
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.models.iter().map(|model| model.name()).collect();
        formatter
            .debug_struct("Fallback")
            .field("models", &names)
            .field("rest", &self.rest)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
