//! A model that counts its requests.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use toolwright::dialect::Dialect;

use crate::history::Message;
use crate::limits::Cost;
use crate::model::{Model, ModelAnswer, ModelError, ModelRequest, ModelSettings, OutputFormat};

/// A model that counts the requests to another model. To read the count, give the agent an `Arc` of this model.
///
/// ```
/// use std::sync::Arc;
/// use toolwright::{Executor, Registry};
/// use toolwright_agent::testing::CountingModel;
/// use toolwright_agent::{Agent, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let model = Arc::new(CountingModel::new(ScriptedModel::new().says("Done.")));
/// let agent = Agent::on(Executor::builder(Registry::empty()).build()?, Arc::clone(&model)).build()?;
/// let mut run = agent.new_run("r").start()?;
/// run.send("Go!").await?;
/// assert_eq!(model.requests(), 1);
///
/// // The run has ended, so resuming it makes no request.
/// let before = model.requests();
/// run.resume().await?;
/// model.assert_unasked_since(before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CountingModel<M> {
    model: M,
    requests: AtomicUsize,
}

impl<M: Model> CountingModel<M> {
    /// Makes a model that passes requests on to `model`, and counts them.
    pub fn new(model: M) -> Self {
        Self { model, requests: AtomicUsize::new(0) }
    }

    /// Returns the number of requests so far.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// Asserts that the model got no request at all.
    ///
    /// # Panics
    /// When the model got a request.
    #[track_caller]
    pub fn assert_unasked(&self) {
        self.assert_unasked_since(0);
    }

    /// Asserts that the number of requests is still `before`.
    ///
    /// # Panics
    /// When the model got a request since then.
    #[track_caller]
    pub fn assert_unasked_since(&self, before: usize) {
        let requests = self.requests();
        assert!(
            requests == before,
            "the model `{}` was asked {requests} times, expected {before}",
            self.model.name()
        );
    }
}

impl<M: Model> Model for CountingModel<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn dialect(&self) -> Dialect {
        self.model.dialect()
    }

    fn origin(&self) -> Option<&str> {
        self.model.origin()
    }

    fn searches_tools(&self) -> bool {
        self.model.searches_tools()
    }

    fn check(&self, settings: &ModelSettings, max_tokens: Option<u32>) -> Result<(), ModelError> {
        self.model.check(settings, max_tokens)
    }

    fn takes_format(&self, format: &OutputFormat) -> bool {
        self.model.takes_format(format)
    }

    fn first_read(&self, history: &[Message]) -> usize {
        self.model.first_read(history)
    }

    fn dialects(&self) -> Vec<Dialect> {
        self.model.dialects()
    }

    fn window(&self) -> Option<u64> {
        self.model.window()
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        self.model.answer(request)
    }

    fn most_cost(&self, input_tokens: u64, output_tokens: u64) -> Option<Cost> {
        self.model.most_cost(input_tokens, output_tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model that supports what models usually do not.
    struct Odd;

    impl Model for Odd {
        fn name(&self) -> &'static str {
            "odd"
        }

        fn dialect(&self) -> Dialect {
            Dialect::OpenAiChat
        }

        fn origin(&self) -> Option<&str> {
            Some("openai@gateway.example")
        }

        fn searches_tools(&self) -> bool {
            true
        }

        fn check(&self, _: &ModelSettings, _: Option<u32>) -> Result<(), ModelError> {
            Err(ModelError::new("invalid_request", "no setting is supported"))
        }

        fn takes_format(&self, _: &OutputFormat) -> bool {
            true
        }

        fn answer<'a>(
            &'a self,
            _: ModelRequest<'a>,
        ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
            Box::pin(std::future::ready(Ok(ModelAnswer::new("Done.", Vec::new()))))
        }
    }

    #[test]
    fn a_counted_model_supports_what_the_model_itself_supports() {
        let model = CountingModel::new(Odd);
        assert_eq!(model.origin(), Some("openai@gateway.example"));
        assert!(model.searches_tools());
        assert!(model.check(&ModelSettings::default(), None).is_err());
    }
}
