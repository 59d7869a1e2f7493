//! A task that ends in a value of a type.

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use toolwright::ToolError;

use crate::agent::{Agent, RunError, RunRequest, RunResult, RunStream};
use crate::history::Prompt;
use crate::run::{Output, StartError};

/// A task that will end in a value of `T`. It begins when it is awaited or its stream is read. Made by
/// [`RunRequest::typed`].
#[must_use = "a run begins when it is awaited or its stream is read"]
pub struct TypedRequest<T> {
    request: RunRequest,
    of: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> TypedRequest<T> {
    pub(super) fn new(request: RunRequest) -> Self {
        Self { request, of: PhantomData }
    }

    /// Refuses the values for which `validate` returns an error. The error's message and hint are sent back to the
    /// model, as for other problems of an answer.
    ///
    /// ```
    /// use toolwright::ToolError;
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// #[toolwright::data]
    /// struct Quote {
    ///     /// The prices, in cents.
    ///     prices: Vec<u32>,
    ///     /// Their sum.
    ///     total: u32,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let model = ScriptedModel::new()
    ///     .calls([("final_answer", r#"{"prices":[450,700],"total":7}"#)])
    ///     .calls([("final_answer", r#"{"prices":[450,700],"total":1150}"#)]);
    /// let agent = Agent::builder(model).build()?;
    /// let quote = agent.run("What do tea and honey cost?").typed().validate(|quote: &Quote| {
    ///     match quote.prices.iter().sum::<u32>() == quote.total {
    ///         true => Ok(()),
    ///         false => Err(ToolError::invalid("/total: it is not the sum of the prices")),
    ///     }
    /// });
    /// assert_eq!(quote.await?.output().total, 1150);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn validate(
        self,
        validate: impl Fn(&T) -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::new(self.request.ending_in(Output::validated(validate)))
    }

    /// Runs the task while its events are read. To read the value, call [`RunResult::output`] on the stream's result.
    #[must_use = "the run goes on while its stream is read"]
    pub fn stream(self) -> RunStream<'static> {
        self.request.stream()
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> IntoFuture for TypedRequest<T> {
    type Output = Result<TypedResult<T>, RunError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let running = self.request.into_future();
        async move { TypedResult::of(running.await?) }.boxed()
    }
}

impl<T> fmt::Debug for TypedRequest<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TypedRequest").field(&self.request).finish()
    }
}

/// The result of a run that ended in a value of `T`.
#[derive(Debug, Clone)]
pub struct TypedResult<T> {
    output: T,
    result: RunResult,
}

impl<T: DeserializeOwned + JsonSchema> TypedResult<T> {
    fn of(result: RunResult) -> Result<Self, RunError> {
        Ok(Self { output: result.output()?, result })
    }
}

impl<T> TypedResult<T> {
    /// Returns the value.
    #[must_use]
    pub fn output(&self) -> &T {
        &self.output
    }

    /// Returns the value, without the rest of the result.
    #[must_use]
    pub fn into_output(self) -> T {
        self.output
    }

    /// Returns the rest of the result: the turns, the usage, the history.
    #[must_use]
    pub fn result(&self) -> &RunResult {
        &self.result
    }
}

impl Agent {
    /// Extracts a value of a type from a text: asks the model as [`RunRequest::typed`] does, without tools, and records
    /// no run.
    ///
    /// ```
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// // A value that is not an object is wrapped in the field `value`.
    /// let model = ScriptedModel::new().calls([("final_answer", r#"{"value":["tea","honey"]}"#)]);
    /// let agent = Agent::builder(model).build()?;
    /// let articles = agent.extract::<Vec<String>>("One tea, and two of the honey, please!").await?;
    /// assert_eq!(articles.into_output(), ["tea", "honey"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the provider does not accept the schema of the type, the model fails, a limit is reached, or no answer is
    /// such a value.
    pub async fn extract<T>(&self, text: impl Into<Prompt>) -> Result<TypedResult<T>, RunError>
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
    {
        let output = Output::of::<T>().map_err(StartError::from)?;
        let nothing = toolwright::Registry::empty().catalog();
        output.fits(self.model(), &nothing).map_err(StartError::from)?;
        let run = self.new_run(crate::run::options::RunOptions::new_id());
        let mut run = run.ending_in(output).without_tools().start()?;
        let (text, attachments) = text.into().into_parts();
        let end = run.send_with(text, attachments).await?;
        TypedResult::of(RunResult::new(&run, end, 0)?)
    }
}
