//! Work that outlives the request that began it: the answer to the request asks the client for input, and the client's
//! next request continues the work.

use std::collections::HashMap;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{InputRequiredResult, InputResponses};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use toolwright::CancellationToken;
use uuid::Uuid;

use super::exchange::Exchange;

/// The maximum number of pieces of work of one session that may wait for answers, so that a client cannot fill the
/// memory.
const MOST_HELD: usize = 256;

/// The identity of what a request asks for: a digest of its method, name and canonical arguments, because arguments can
/// be large.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Purpose([u8; 32]);

impl Purpose {
    pub(super) fn of(method: &str, name: &str, arguments: &str) -> Self {
        let mut digest = Sha256::new();
        for part in [method, name, arguments] {
            digest.update(part.len().to_be_bytes());
            digest.update(part);
        }
        Self(digest.finalize().into())
    }
}

/// The input of a round, from the client: the state of the previous round and the answers.
pub(super) struct Input {
    /// The `requestState` of the previous round; `None` in the first round.
    pub(super) state: Option<String>,
    pub(super) answers: Option<InputResponses>,
}

/// How one round ends.
#[derive(Debug)]
pub(super) enum Round<T> {
    /// The call is done, with this result.
    Done(T),
    /// The client has to answer questions, and then begins another round.
    Asks(InputRequiredResult),
}

/// The work that waits for answers, by the `requestState` that the client has to send with them.
pub(super) struct Rounds<T>(Mutex<HashMap<String, HeldRequest<T>>>);

struct HeldRequest<T> {
    purpose: Purpose,
    exchange: Arc<Exchange>,
    stop: CancellationToken,
    steps: mpsc::UnboundedReceiver<Step<T>>,
}

/// The progress of the work on a request.
enum Step<T> {
    /// The work has asked a question.
    Asked,
    Done(Result<T, ErrorData>),
}

type Work<T> = Pin<Box<dyn Future<Output = Result<T, ErrorData>> + Send>>;

impl<T> Default for Rounds<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Send + 'static> Rounds<T> {
    /// Runs the work until it is done or asks a question. If the request is cancelled, the work is cancelled too. Work
    /// without a purpose gets no [`Exchange`], and runs to its end in one round.
    ///
    /// # Errors
    /// The errors of the work. Also when no work with this purpose waits under the `requestState`, or an answer is
    /// malformed.
    pub(super) async fn round<W>(
        &self,
        purpose: Option<Purpose>,
        input: Input,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(Option<Arc<Exchange>>, CancellationToken) -> W,
    ) -> Result<Round<T>, ErrorData>
    where
        W: Future<Output = Result<T, ErrorData>> + Send + 'static,
    {
        let Some(purpose) = purpose else {
            return match input.state {
                Some(_) => Err(unknown()),
                // Boxed, because `rmcp` moves the future of a request several times before it runs it. If the future is
                // large, this costs more than the call.
                None => Box::pin(work(None, context.ct.clone())).await.map(Round::Done),
            };
        };
        if let Some(state) = &input.state {
            let answers = input.answers.unwrap_or_default();
            return self.resume(state, &purpose, answers, context).await;
        }
        let exchange = Exchange::begin(context, input.answers)?;
        let stop = CancellationToken::new();
        let mut work: Work<T> =
            Box::pin(exchange.over(work(Some(Arc::clone(&exchange)), stop.clone())));
        match attend(step(&mut work, &exchange), &context.ct, &stop).await {
            Step::Done(done) => done.map(Round::Done),
            Step::Asked => {
                let steps = drive(work, Arc::clone(&exchange));
                self.hold(HeldRequest { purpose, exchange, stop, steps }, &context.ct).await
            }
        }
    }

    /// Passes the client's answers to the work that waits for them.
    async fn resume(
        &self,
        state: &str,
        purpose: &Purpose,
        answers: InputResponses,
        context: &RequestContext<RoleServer>,
    ) -> Result<Round<T>, ErrorData> {
        let held = {
            let mut all = self.lock();
            let held = all.get(state).filter(|held| held.purpose == *purpose);
            let Some(held) = held else { return Err(unknown()) };
            held.exchange.answer(answers)?;
            all.remove(state).ok_or_else(unknown)?
        };
        held.exchange.attend(context);
        if held.exchange.has_open() {
            return Ok(Round::Asks(self.keep(held)));
        }
        self.hold(held, &context.ct).await
    }

    /// Waits until the work is done or has an open question.
    async fn hold(
        &self,
        mut held: HeldRequest<T>,
        request: &CancellationToken,
    ) -> Result<Round<T>, ErrorData> {
        loop {
            if held.exchange.has_open() {
                return Ok(Round::Asks(self.keep(held)));
            }
            match attend(held.steps.recv(), request, &held.stop).await {
                Some(Step::Done(done)) => return done.map(Round::Done),
                Some(Step::Asked) => {}
                None => return Err(ErrorData::internal_error("the work has ended", None)),
            }
        }
    }

    /// Stores the work under a random state that can be used once.
    fn keep(&self, held: HeldRequest<T>) -> InputRequiredResult {
        let state = Uuid::new_v4().to_string();
        let result = InputRequiredResult::new(Some(held.exchange.open()), Some(state.clone()));
        held.exchange.rest();
        let mut all = self.lock();
        if all.len() >= MOST_HELD {
            // Drops work that is done but whose client has not returned.
            all.retain(|_, held| !held.steps.is_closed());
        }
        match all.len() >= MOST_HELD {
            // Too much work waits, so the tool continues without answers. The client's next request fails with an
            // unknown state.
            true => held.exchange.give_up(),
            false => {
                all.insert(state, held);
            }
        }
        result
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, HeldRequest<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Polls the work until it is done, or cannot continue without an answer.
async fn step<T>(work: &mut Work<T>, exchange: &Exchange) -> Step<T> {
    std::future::poll_fn(|context| match work.as_mut().poll(context) {
        std::task::Poll::Ready(done) => std::task::Poll::Ready(Step::Done(done)),
        std::task::Poll::Pending if exchange.has_open() => std::task::Poll::Ready(Step::Asked),
        std::task::Poll::Pending => std::task::Poll::Pending,
    })
    .await
}

/// Continues the work in a task while no request waits for it, so that its time limits and its lease keep working.
fn drive<T: Send + 'static>(
    mut work: Work<T>,
    exchange: Arc<Exchange>,
) -> mpsc::UnboundedReceiver<Step<T>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut asked = exchange.open();
        let done = std::future::poll_fn(|context| {
            let polled = work.as_mut().poll(context);
            let open = exchange.open();
            if open.keys().any(|key| !asked.contains_key(key)) {
                let _ = sender.send(Step::Asked);
            }
            asked = open;
            polled
        });
        let done = done.await;
        // If the session has ended, no client needs the result.
        let _ = sender.send(Step::Done(done));
    });
    receiver
}

/// Waits for the output of the work. If the request is cancelled or dropped meanwhile, the work is stopped.
async fn attend<F: Future>(
    work: F,
    request: &CancellationToken,
    stop: &CancellationToken,
) -> F::Output {
    let dropped = stop.clone().drop_guard();
    let mut work = pin!(work);
    let output = tokio::select! {
        biased;
        output = &mut work => output,
        () = request.cancelled() => {
            stop.cancel();
            work.await
        }
    };
    dropped.disarm();
    output
}

fn unknown() -> ErrorData {
    let words = "this `requestState` is not valid: it belongs to another request, was answered already, or has expired; make the request again without it";
    ErrorData::invalid_params(words, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_is_the_method_the_name_and_the_arguments_each_by_itself() {
        let purpose = Purpose::of("tools/call", "order", r#"{"of":"tea"}"#);
        assert_eq!(purpose, Purpose::of("tools/call", "order", r#"{"of":"tea"}"#));
        for (method, name, arguments) in [
            ("prompts/get", "order", r#"{"of":"tea"}"#),
            ("tools/call", "orders", r#"{"of":"tea"}"#),
            ("tools/call", "order", r#"{"of":"milk"}"#),
            // The same bytes, but split differently into name and arguments.
            ("tools/call", "orde", r#"r{"of":"tea"}"#),
            ("tools/call\0", "order", r#"{"of":"tea"}"#),
            ("tools/call", r#"order{"of":"tea"}"#, ""),
            ("", "tools/callorder", r#"{"of":"tea"}"#),
        ] {
            assert_ne!(
                purpose,
                Purpose::of(method, name, arguments),
                "{method} {name} {arguments}"
            );
        }
    }

    /// The purpose of a request with 4 MiB of arguments takes 32 bytes.
    #[test]
    fn a_purpose_is_as_small_whatever_its_arguments_are() {
        let long = "x".repeat(4 << 20);
        assert_ne!(
            Purpose::of("tools/call", "order", &long),
            Purpose::of("tools/call", "order", &long[1..])
        );
        assert_eq!(size_of::<Purpose>(), 32);
    }
}
