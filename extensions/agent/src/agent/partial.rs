//! Reads the complete fields of a value while the model still writes it.

mod members;

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use self::members::Members;
use crate::agent::{RunError, RunResult, RunStream, TypedRequest};
use crate::events::RunEvent;
use crate::model::FINAL_ANSWER;

/// The fields of a `T` that are complete so far. A `Partial` is not a `T`: fields may be missing, and the fields were
/// not checked. [`TypedRequest::partial`] returns a stream of `Partial`s.
pub struct Partial<T> {
    fields: Map<String, Value>,
    of: PhantomData<fn() -> T>,
}

impl<T> Partial<T> {
    /// Returns the fields.
    #[must_use]
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// Returns one field; `None` if it is not complete yet, or is not a `V`.
    #[must_use]
    pub fn get<V: DeserializeOwned>(&self, field: &str) -> Option<V> {
        V::deserialize(self.fields.get(field)?).ok()
    }

    /// Reads all complete fields as another type, whose fields are optional.
    ///
    /// # Errors
    /// When the fields do not fit the type.
    pub fn read<P: DeserializeOwned>(&self) -> Result<P, serde_json::Error> {
        P::deserialize(Value::Object(self.fields.clone()))
    }
}

impl<T> Clone for Partial<T> {
    fn clone(&self) -> Self {
        Self { fields: self.fields.clone(), of: PhantomData }
    }
}

/// Omits the values of the fields, which may be secret.
impl<T> fmt::Debug for Partial<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.fields.keys()).finish()
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> TypedRequest<T> {
    /// Runs the task and streams the complete fields of the value: a [`Partial`] each time that another field is
    /// complete. If the model has to answer again, because its answer was invalid or broke off, the complete fields are
    /// discarded. If there were any, the stream yields an empty `Partial`. The value is checked only when it is
    /// complete. When the stream has ended, [`PartialStream::result`] has the result. If the run gives no answer, the
    /// stream ends with an error.
    ///
    /// If the model does not stream, or guards look at its answers, the fields arrive late or not at all.
    ///
    /// ```
    /// use futures::StreamExt as _;
    /// use toolwright_agent::{Agent, ScriptedModel};
    ///
    /// #[toolwright::data]
    /// struct Quote {
    ///     /// What it is.
    ///     article: String,
    ///     /// In cents.
    ///     total: u32,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let model = ScriptedModel::new().streaming();
    /// let model = model.calls([("final_answer", r#"{"article":"green tea","total":450}"#)]);
    /// let agent = Agent::builder(model).build()?;
    /// let mut parts = agent.run("What does green tea cost?").typed::<Quote>().partial();
    /// let mut seen = Vec::new();
    /// while let Some(part) = parts.next().await {
    ///     let part = part?;
    ///     seen.push((part.get::<String>("article"), part.get::<u32>("total")));
    /// }
    /// assert_eq!(seen, [(Some("green tea".to_owned()), None), (Some("green tea".to_owned()), Some(450))]);
    /// let quote: Quote = parts.result().expect("it has ended").output()?;
    /// assert_eq!(quote.total, 450);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "the run goes on while its stream is read"]
    pub fn partial(self) -> PartialStream<T> {
        PartialStream {
            events: self.stream(),
            members: Members::default(),
            call: None,
            of: PhantomData,
        }
    }
}

/// A stream of the complete fields of a `T`, as the model writes them. Reading drives the run; dropping the stream
/// stops the run.
pub struct PartialStream<T> {
    events: RunStream<'static>,
    members: Members,
    /// The index of the call by which the model gives the value.
    call: Option<usize>,
    of: PhantomData<fn() -> T>,
}

impl<T> PartialStream<T> {
    /// Returns the result of the run, after the stream was read to its end; [`RunResult::output`] reads the value.
    #[must_use]
    pub fn result(&self) -> Option<&RunResult> {
        self.events.result()
    }

    /// Takes an event; returns whether it completes a field or discards the fields.
    fn take(&mut self, event: &RunEvent) -> bool {
        match event {
            // In an answer that calls other tools, text may precede the calls.
            RunEvent::Text(text) if self.call.is_none() => self.members.push(text),
            RunEvent::CallBegan { index, tool } if tool == FINAL_ANSWER => {
                self.call = Some(*index);
                self.members.clear()
            }
            RunEvent::Arguments { index, text } if self.call == Some(*index) => {
                self.members.push(text)
            }
            RunEvent::Asking | RunEvent::Restarted => {
                self.call = None;
                self.members.clear()
            }
            _ => false,
        }
    }
}

impl<T> Stream for PartialStream<T> {
    type Item = Result<Partial<T>, RunError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match Pin::new(&mut self.events).poll_next(context) {
                Poll::Ready(Some(Ok(event))) => {
                    if self.take(&event) {
                        let fields = self.members.fields().clone();
                        return Poll::Ready(Some(Ok(Partial { fields, of: PhantomData })));
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<T> fmt::Debug for PartialStream<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PartialStream")
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}
