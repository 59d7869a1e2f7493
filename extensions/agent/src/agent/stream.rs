//! Drives a run while its events are read.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;
use futures::future::BoxFuture;

use crate::agent::{RunError, RunResult};
use crate::events::{NumberedEvent, RunEvent, RunEvents};

/// The events of a run, as they happen. Reading drives the run; dropping the stream stops the run. The stream ends
/// after the last event. If the run gives no answer, the stream ends with the error.
pub struct RunStream<'a> {
    /// The events of the run; `None` if the run could not begin.
    events: Option<RunEvents>,
    driving: Option<BoxFuture<'a, Result<RunResult, RunError>>>,
    result: Option<RunResult>,
    error: Option<RunError>,
}

impl<'a> RunStream<'a> {
    pub(crate) fn new(
        events: RunEvents,
        driving: BoxFuture<'a, Result<RunResult, RunError>>,
    ) -> Self {
        Self { events: Some(events), driving: Some(driving), result: None, error: None }
    }

    pub(crate) fn failed(error: RunError) -> Self {
        Self { events: None, driving: None, result: None, error: Some(error) }
    }

    /// Returns the result of the run, after its events were read to the end.
    #[must_use]
    pub fn result(&self) -> Option<&RunResult> {
        self.result.as_ref()
    }

    /// Numbers the events, so that a reader that reconnects can continue after its last event, by [`RunEvents::after`].
    #[must_use]
    pub fn numbered(self) -> NumberedStream<'a> {
        NumberedStream(self)
    }

    fn poll_event(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<NumberedEvent, RunError>>> {
        loop {
            if let Some(events) = &mut self.events
                && let Poll::Ready(Some(event)) = Pin::new(events).poll_next(context)
            {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(driving) = &mut self.driving else {
                self.events = None;
                return Poll::Ready(self.error.take().map(Err));
            };
            match driving.as_mut().poll(context) {
                Poll::Ready(ended) => {
                    self.driving = None;
                    match ended {
                        Ok(result) => self.result = Some(result),
                        Err(error) => self.error = Some(error),
                    }
                }
                Poll::Pending => {
                    let Some(events) = &mut self.events else { return Poll::Pending };
                    match Pin::new(&mut *events).poll_next(context) {
                        Poll::Ready(Some(event)) => return Poll::Ready(Some(Ok(event))),
                        Poll::Pending => return Poll::Pending,
                        // One driver of the run has stopped. The events of the next driver follow.
                        Poll::Ready(None) => {}
                    }
                }
            }
        }
    }
}

impl Stream for RunStream<'_> {
    type Item = Result<RunEvent, RunError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_event(context).map(|it| it.map(|event| event.map(|event| event.kind)))
    }
}

impl fmt::Debug for RunStream<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunStream").field("result", &self.result).finish_non_exhaustive()
    }
}

/// A [`RunStream`] whose events carry their numbers and turns.
#[derive(Debug)]
pub struct NumberedStream<'a>(RunStream<'a>);

impl NumberedStream<'_> {
    /// Returns the result of the run, after its events were read to the end; `None` if the stream ended with an error.
    #[must_use]
    pub fn result(&self) -> Option<&RunResult> {
        self.0.result()
    }
}

impl Stream for NumberedStream<'_> {
    type Item = Result<NumberedEvent, RunError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_event(context)
    }
}
