//! A model that follows a script, for tests of agents: each request takes the next step.

use std::collections::VecDeque;
use std::fmt;
use std::future::pending;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use futures::future::BoxFuture;
use toolwright::dialect::Dialect;
use toolwright::provider::ToolCall;

use crate::history::Message;
use crate::limits::{Cost, Price};
use crate::model::{
    Delta, DeltaListener, Model, ModelAnswer, ModelError, ModelRequest, ModelSettings,
    RequestLimits,
};

/// The number of characters in a piece of a streamed answer.
const PIECE: usize = 4;

/// A model that answers by a script. The model panics if it is asked after the last step, or dropped with steps left.
/// On the thread `main`, which runs no tests, unused steps are only reported on standard error, because a panic would
/// hide the error that `main` returns.
///
/// ```
/// use std::sync::Arc;
/// use toolwright::{Executor, Registry};
/// use toolwright_agent::{Agent, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let model = Arc::new(ScriptedModel::new().says("Done."));
/// let executor = Executor::builder(Registry::empty()).build()?;
/// let agent = Agent::on(executor, Arc::clone(&model)).build()?;
/// agent.new_run("r").start()?.send("Go!").await?;
/// assert_eq!(model.requests()[0].tools, "[]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ScriptedModel {
    dialect: Dialect,
    streams: bool,
    price: Option<Price>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    steps: VecDeque<Step>,
    requests: Vec<ScriptedRequest>,
}

enum Step {
    Answers(Box<ModelAnswer>),
    Fails(ModelError),
    Hangs,
}

/// A request to a [`ScriptedModel`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScriptedRequest {
    /// The system prompt of the request.
    pub instructions: String,
    /// The history of the request.
    pub history: Vec<Message>,
    /// The list of tools that the model is offered, as text.
    pub tools: String,
    /// The limits on the answer to the request.
    pub limits: RequestLimits,
    /// The options of the request.
    pub settings: ModelSettings,
}

impl Default for ScriptedModel {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedModel {
    /// Makes a model without steps, in Anthropic's dialect.
    #[must_use]
    pub fn new() -> Self {
        Self { dialect: Dialect::Anthropic, streams: false, price: None, inner: Mutex::default() }
    }

    /// Sets the dialect in which the model accepts tools.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Makes the model stream its answers if the request has a listener: texts and arguments in pieces of up to four
    /// characters.
    #[must_use]
    pub fn streaming(mut self) -> Self {
        self.streams = true;
        self
    }

    /// Sets the price of the model's tokens. Scripted answers that have a usage but no cost get their cost by this
    /// price.
    #[must_use]
    pub fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// Adds a step that gives this answer.
    #[must_use]
    pub fn answers(self, answer: ModelAnswer) -> Self {
        self.step(Step::Answers(Box::new(answer)))
    }

    /// Adds a step that answers with this text.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.answers(ModelAnswer::text(text))
    }

    /// Adds a step that calls these tools, by name and arguments. Their ids are `call_1`, `call_2` and so on, over the
    /// whole script.
    #[must_use]
    pub fn calls<'a>(self, calls: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        self.says_and_calls("", calls)
    }

    /// Adds a step that answers with this text and these calls.
    #[must_use]
    pub fn says_and_calls<'a>(
        self,
        text: impl Into<String>,
        calls: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let made = |step: &Step| match step {
            Step::Answers(answer) => answer.calls.len(),
            Step::Fails(_) | Step::Hangs => 0,
        };
        let before: usize = self.lock().steps.iter().map(made).sum();
        let calls = calls.into_iter().zip(before + 1..).map(|((name, arguments), number)| {
            let (name, arguments) = (name.to_owned(), arguments.to_owned());
            ToolCall { id: Some(format!("call_{number}")), name, arguments }
        });
        let calls = calls.collect();
        self.answers(ModelAnswer::new(text, calls))
    }

    /// Adds a step that fails with this error.
    #[must_use]
    pub fn fails(self, error: ModelError) -> Self {
        self.step(Step::Fails(error))
    }

    /// Adds a step that never answers, so that the request has to be dropped.
    #[must_use]
    pub fn hangs(self) -> Self {
        self.step(Step::Hangs)
    }

    /// Lists the requests that the model got so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ScriptedRequest> {
        self.lock().requests.clone()
    }

    fn step(self, step: Step) -> Self {
        self.lock().steps.push_back(step);
        self
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, request: ModelRequest<'_>) -> Step {
        let mut inner = self.lock();
        inner.requests.push(ScriptedRequest {
            instructions: request.instructions.to_owned(),
            history: request.history.to_vec(),
            tools: request.listing.tools().get().to_owned(),
            limits: request.limits,
            settings: request.settings.clone(),
        });
        let step = inner.steps.pop_front();
        let asked = inner.requests.len();
        drop(inner);
        step.unwrap_or_else(|| {
            panic!(
                "the script of the model has no step left, and it is asked for the {asked}. time"
            )
        })
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let streams = request.listener.filter(|_| self.streams);
        let (step, price) = (self.take(request), self.price);
        Box::pin(async move {
            match step {
                Step::Answers(answer) => {
                    if let Some(listener) = streams {
                        stream(&answer, listener);
                    }
                    let cost = answer.usage.zip(price).map(|(usage, price)| price.cost(usage));
                    Ok(ModelAnswer { cost: answer.cost.or(cost), ..*answer })
                }
                Step::Fails(error) => Err(error),
                Step::Hangs => pending().await,
            }
        })
    }

    fn most_cost(&self, input_tokens: u64, output_tokens: u64) -> Option<Cost> {
        Some(self.price?.most(input_tokens, output_tokens))
    }
}

/// Passes an answer to a listener in pieces, as a provider does.
fn stream(answer: &ModelAnswer, listener: &dyn DeltaListener) {
    pieces(&answer.text).for_each(|text| listener.delta(Delta::Text(text)));
    for (index, call) in answer.calls.iter().enumerate() {
        listener.delta(Delta::CallBegan { index, name: &call.name });
        pieces(&call.arguments).for_each(|text| listener.delta(Delta::Arguments { index, text }));
        listener.delta(Delta::CallWhole { index, call });
    }
}

fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = text.char_indices().nth(PIECE).map_or(text.len(), |(end, _)| end);
        let (piece, rest) = text.split_at(end);
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        let left = self.lock().steps.len();
        // A second panic would abort the test before it reports the first.
        if left == 0 || thread::panicking() {
            return;
        }
        let words = format!("{left} steps of the model's script are left unused");
        if thread::current().name() == Some("main") {
            // There is nowhere to report a failed write.
            let _ = writeln!(std::io::stderr(), "{words}");
        } else {
            panic!("{words}");
        }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.lock();
        let (asked, left) = (inner.requests.len(), inner.steps.len());
        formatter.debug_struct("ScriptedModel").field("asked", &asked).field("left", &left).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a thread of this name panics when it drops a model that has steps left.
    fn panics(name: &str) -> bool {
        let thread = thread::Builder::new().name(name.to_owned());
        let dropped = thread.spawn(|| drop(ScriptedModel::new().says("Done."))).unwrap();
        dropped.join().is_err()
    }

    #[test]
    fn a_step_that_is_left_fails_a_test_and_hides_no_error_of_main() {
        assert!(panics("a_test"));
        assert!(!panics("main"));
    }
}
