//! The reader and the writer of a run's events, which form a numbered stream. No reader can delay the run.
//!
//! - The run writes and never waits: a reader that is too slow finds the oldest events gone and gets
//!   [`RunEvent::Missed`] in their place.
//! - Once the run's events have a reader, the model is asked to stream.
//! - No event has the arguments of a call of a tool with a secret parameter. The value that a model gives by a call of
//!   `final_answer` is shown.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};

use futures::Stream;

use super::ring::Ring;
use super::{NumberedEvent, RunEvent};

/// A reader of the events of a run: a stream that returns the events in order. A reader that is too slow gets
/// [`RunEvent::Missed`] in place of events that are no longer stored. The stream returns `None` when the driver of the
/// run is gone, for example because the [`AgentRun`](crate::AgentRun) was dropped. If polled again, the stream waits
/// for another driver of the run.
///
/// ```
/// use toolwright::{Executor, Registry};
/// use toolwright_agent::{Agent, RunEvent, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let executor = Executor::builder(Registry::empty()).build()?;
/// let agent = Agent::on(executor, ScriptedModel::new().says("Hello.")).build()?;
/// let mut run = agent.new_run("greetings").start()?;
///
/// let mut events = run.events();
/// let reader = async move {
///     let mut said = String::new();
///     while let Some(event) = events.next().await {
///         match event.kind {
///             RunEvent::Text(text) => said.push_str(&text),
///             RunEvent::Restarted => said.clear(),
///             _ => {}
///         }
///     }
///     said
/// };
/// let driver = async move { run.send("Good morning!").await };
/// let (said, ended) = tokio::join!(reader, driver);
/// assert_eq!((said.as_str(), ended?.to_string().as_str()), ("Hello.", "ended with a text"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RunEvents {
    ring: Arc<Mutex<Ring>>,
    /// The number of the next event to read.
    next: u64,
    /// How many drivers had ended when this reader was last polled.
    ends_known: u64,
}

impl RunEvents {
    fn new(ring: Arc<Mutex<Ring>>, next: Option<u64>) -> Self {
        let (next, ends_known) = {
            let mut ring = ring.lock().unwrap_or_else(PoisonError::into_inner);
            ring.is_read = true;
            (next.unwrap_or_else(|| ring.next()), ring.ends)
        };
        Self { ring, next, ends_known }
    }

    /// Waits for the next event.
    pub async fn next(&mut self) -> Option<NumberedEvent> {
        std::future::poll_fn(|context| self.poll_event(context)).await
    }

    /// Makes a reader of the same run that continues after the event with this number; 0 reads all events that are
    /// still stored. If the next event is gone, [`RunEvent::Missed`] comes first.
    #[must_use]
    pub fn after(&self, number: u64) -> Self {
        Self { next: number.saturating_add(1), ..self.clone() }
    }

    fn poll_event(&mut self, context: &Context<'_>) -> Poll<Option<NumberedEvent>> {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(event) = ring.read(self.next) {
            self.next = event.number + 1;
            return Poll::Ready(Some(event));
        }
        if !ring.is_driven() && ring.ends > self.ends_known {
            self.ends_known = ring.ends;
            return Poll::Ready(None);
        }
        ring.wake_later(context.waker());
        Poll::Pending
    }
}

impl Stream for RunEvents {
    type Item = NumberedEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_event(context)
    }
}

impl fmt::Debug for RunEvents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunEvents").field("next", &self.next).finish_non_exhaustive()
    }
}

/// The event rings of the agent's runs that have a driver or a reader.
#[derive(Default)]
pub(crate) struct Rings(Mutex<HashMap<String, Weak<Mutex<Ring>>>>);

impl Rings {
    fn ring(&self, run: &str) -> Arc<Mutex<Ring>> {
        let mut rings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ring) = rings.get(run).and_then(Weak::upgrade) {
            return ring;
        }
        rings.retain(|_, ring| ring.strong_count() > 0);
        let ring = Arc::default();
        rings.insert(run.to_owned(), Arc::downgrade(&ring));
        ring
    }

    /// Makes a reader of the run's events, from the event with the number `next`; without a number, from the next
    /// event.
    pub(crate) fn read(&self, run: &str, next: Option<u64>) -> RunEvents {
        RunEvents::new(self.ring(run), next)
    }

    /// Whether the run's events have ever had a reader.
    pub(crate) fn is_read(&self, run: &str) -> bool {
        self.ring(run).lock().unwrap_or_else(PoisonError::into_inner).is_read
    }

    /// Adds an event to a run that another process drives, if the run's events have a reader. Returns whether there is
    /// a reader.
    pub(crate) fn tell(&self, run: &str, kind: RunEvent) -> bool {
        let ring = self.ring(run);
        let mut ring = ring.lock().unwrap_or_else(PoisonError::into_inner);
        if ring.is_read {
            ring.push_now(kind);
        }
        ring.is_read
    }

    /// Makes the writer for a sub-agent of a run. This writer does not count as a driver of the run.
    pub(crate) fn of_agents(&self, run: &str, agents: Agents) -> EventWriter {
        EventWriter(self.ring(run), Some(agents))
    }

    /// Makes the writer for the run's driver.
    pub(crate) fn written(&self, run: &str) -> EventWriter {
        let ring = self.ring(run);
        ring.lock().unwrap_or_else(PoisonError::into_inner).drivers += 1;
        EventWriter(ring, None)
    }
}

/// Writes the events of a run or of a sub-agent. When the writer of a run is dropped, readers get `None`.
pub(crate) struct EventWriter(Arc<Mutex<Ring>>, Option<Agents>);

/// The names of nested sub-agents, the outermost first.
pub(crate) type Agents = Arc<[String]>;

impl EventWriter {
    /// Adds an event of a turn.
    pub(crate) fn push(&self, turn: u64, kind: RunEvent) {
        match &self.1 {
            Some(_) => self.push_now(kind),
            None => self.0.lock().unwrap_or_else(PoisonError::into_inner).push(turn, kind),
        }
    }

    /// Adds an event of the current turn.
    pub(crate) fn push_now(&self, kind: RunEvent) {
        let kind = kind.of_agents(self.1.as_ref());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_now(kind);
    }

    /// Begins the answer of a turn. If the turn had events already, adds [`RunEvent::Restarted`].
    pub(crate) fn ask(&self, turn: u64) {
        if self.1.is_some() {
            return;
        }
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ring.is_at(turn) {
            ring.push(turn, RunEvent::Restarted);
        }
    }

    /// Whether the events have ever had a reader.
    pub(crate) fn is_read(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_read
    }

    pub(crate) fn reader(&self) -> RunEvents {
        RunEvents::new(Arc::clone(&self.0), None)
    }

    /// Begins the numbers of this driver's events. `epoch` is the number of drivers that have taken the run so far.
    pub(crate) fn begin(&self, epoch: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).begin(epoch);
    }

    /// Returns a listener that adds events about the calls of the run.
    pub(crate) fn of_calls(&self) -> impl Fn(&toolwright::ToolEvent<'_>) + Send + Sync + 'static {
        let (ring, agents) = (Arc::downgrade(&self.0), self.1.clone());
        move |event| {
            let Some(ring) = ring.upgrade() else { return };
            let mut ring = ring.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(kind) = RunEvent::of_call(event).filter(|_| ring.is_read) {
                ring.push_now(kind.of_agents(agents.as_ref()));
            }
        }
    }
}

impl Drop for EventWriter {
    fn drop(&mut self) {
        if self.1.is_some() {
            return;
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).end();
    }
}
