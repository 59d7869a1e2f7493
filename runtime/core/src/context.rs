//! The context of a call, for its tool: the call's ids, whether the call was cancelled, and how to report progress.

use std::any::TypeId;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use futures::future::BoxFuture;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::call::Call;
use crate::capability::Value;
use crate::error::ToolError;

/// The id of a call, made by the executor. It is not the id that the provider gave to the call. Of two calls of one
/// process, the later call has the higher id. Displayed and serialised as a hyphenated UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(Uuid);

impl CallId {
    #[doc(hidden)]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// Returns the sixteen bytes of the UUID, most significant byte first. They sort in the same order as the ids.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// Makes a call id from its sixteen bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }
}

impl FromStr for CallId {
    type Err = InvalidCallId;

    fn from_str(text: &str) -> Result<Self, InvalidCallId> {
        Uuid::try_parse(text).map(Self).map_err(|_| InvalidCallId(text.to_owned()))
    }
}

/// A text that is not the id of a call.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of a call, such as 0192f0c1-2f4e-7c3a-9d1e-5b6a7c8d9e0f")]
pub struct InvalidCallId(String);
crate::debug_as_sentence!(InvalidCallId);

impl Serialize for CallId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CallId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The ids of a call, and its position in the run.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Identity<'a> {
    pub id: CallId,
    /// The idempotency key of a journalled call.
    pub key: Option<&'a str>,
    /// What the journal has recorded about the call; `None` without a journal.
    pub journaled: Option<Journaled<'a>>,
    /// The number of the turn and the index of the call in the turn; `None` for a call outside of turns.
    pub slot: Option<(u64, u32)>,
}

/// The facts that a journal has recorded about a call. The call may run in another process than the one that recorded
/// it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Journaled<'a> {
    pub run: &'a str,
    pub digest: &'a str,
    pub attempt: u32,
}

impl Identity<'_> {
    #[doc(hidden)]
    #[must_use]
    pub fn of(id: CallId) -> Self {
        Self { id, key: None, journaled: None, slot: None }
    }

    /// Sets the number of the turn and the index of the call in the turn.
    #[doc(hidden)]
    #[must_use]
    pub fn at(self, slot: Option<(u64, u32)>) -> Self {
        Self { slot, ..self }
    }
}

/// The operations of a run that the context of a call uses.
#[doc(hidden)]
pub trait RunHandle: Send + Sync {
    /// Returns the run's id.
    fn id(&self) -> &str;
    /// Returns the cancellation tokens of the run. Each of them cancels every call of the run.
    fn cancellations(&self) -> [Option<&CancellationToken>; 2];
    /// Notifies listeners of a call's progress.
    fn progress(&self, progress: &Progress<'_>);
    /// Returns a service of this type: the service of the run, or else that of the executor.
    fn service(&self, id: TypeId) -> Option<&Value>;
    /// Returns an error if the policy forbids a call of the run. An approval or a grant does not change that.
    fn permits(self: Arc<Self>, call: Call<'static>) -> BoxFuture<'static, Result<(), ToolError>>;
}

/// A message about the progress of a call, as its tool reports it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    pub call: CallId,
    pub provider_id: Option<&'a str>,
    pub run: &'a str,
    pub tool: &'a str,
    pub digest: Option<&'a str>,
    pub attempt: Option<u32>,
    pub message: &'a str,
    pub part: Option<f64>,
}

/// The context of a call, for tools that borrow `&ToolContext`.
///
/// ```
/// use toolwright::{ToolContext, tool};
///
/// /// Counts to ten.
/// #[tool(effect = read)]
/// async fn count(context: &ToolContext) -> u32 {
///     for step in 1..=10 {
///         context.progress("counting", Some(f64::from(step) / 10.0));
///     }
///     10
/// }
///
/// // A tool is a function: a test calls it with a context of its own.
/// # tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(async {
/// assert_eq!(count(&ToolContext::test()).await, 10);
/// # });
/// ```
#[derive(Clone)]
pub struct ToolContext(Arc<Inner>);

struct Inner {
    id: CallId,
    /// The idempotency key; `None` if it equals the id of the call.
    key: Option<Box<str>>,
    kept: Option<Box<JournalFacts>>,
    slot: Option<(u64, u32)>,
    provider_id: Option<Box<str>>,
    tool: Box<str>,
    run: Option<Arc<dyn RunHandle>>,
    /// Cancelled when the call has its answer, so that a blocking tool that still runs can stop.
    ended: CancellationToken,
    cancelled: Option<CancellationToken>,
}

/// The facts that a journal has recorded about a call, as [`Journaled`], but owned.
struct JournalFacts {
    run: Box<str>,
    digest: Box<str>,
    attempt: u32,
}

impl JournalFacts {
    fn of(known: Journaled<'_>) -> Box<Self> {
        let Journaled { run, digest, attempt } = known;
        Box::new(Self { run: run.into(), digest: digest.into(), attempt })
    }
}

impl ToolContext {
    #[doc(hidden)]
    pub fn new(identity: Identity<'_>, call: &Call<'_>, run: Arc<dyn RunHandle>) -> Self {
        Self(Arc::new(Inner {
            id: identity.id,
            key: identity.key.map(Into::into),
            kept: identity.journaled.map(JournalFacts::of),
            slot: identity.slot,
            provider_id: call.id.as_deref().map(Into::into),
            tool: call.name().into(),
            run: Some(run),
            ended: CancellationToken::new(),
            cancelled: call.cancellation().cloned(),
        }))
    }

    /// Makes a context for unit tests. It has no run and no listeners, and is never cancelled.
    pub fn test() -> Self {
        Self(Arc::new(Inner {
            id: CallId::new(),
            key: None,
            kept: None,
            slot: None,
            provider_id: None,
            tool: "test".into(),
            run: None,
            ended: CancellationToken::new(),
            cancelled: None,
        }))
    }

    /// Checks a call of another tool that this tool is about to make with a person's consent. The check finds the other
    /// tool, with a resolver if needed, reads the input, and returns the error that the policy would give a direct
    /// call. Outside of an executor every call is permitted.
    ///
    /// # Errors
    /// When there is no tool of that name, when the input is invalid, or when a policy denies the call, requires a
    /// plan, or always asks.
    #[doc(hidden)]
    pub async fn permits(&self, call: Call<'static>) -> Result<(), ToolError> {
        match self.0.run.clone() {
            Some(run) => run.permits(call).await,
            None => Ok(()),
        }
    }

    /// Returns the call's own id.
    pub fn call_id(&self) -> CallId {
        self.0.id
    }

    /// Returns the id that the provider gave to the call; `None` if it gave none.
    pub fn provider_id(&self) -> Option<&str> {
        self.0.provider_id.as_deref()
    }

    /// Returns the id of the run to which the call belongs. A call that is made on the executor itself belongs to the
    /// executor's own run. `None` for a context of [`test`](Self::test).
    pub fn run_id(&self) -> Option<&str> {
        let kept = self.0.kept.as_ref().map(|kept| &*kept.run);
        kept.or_else(|| self.0.run.as_deref().map(RunHandle::id))
    }

    /// Returns the number of the turn that the call belongs to; `None` for a call outside of turns.
    ///
    /// ```
    /// use toolwright::{Call, Executor, Registry, ToolContext, tool};
    ///
    /// /// Returns the place of the call.
    /// #[tool(effect = read)]
    /// async fn tell_place(context: &ToolContext) -> String {
    ///     format!("{:?} {:?}", context.turn(), context.index())
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let executor = Executor::builder(Registry::of([TELL_PLACE])?).build()?;
    /// let call = Call::new("tell_place", "{}");
    /// assert_eq!(executor.call(&call).await.text(), "None None");
    /// let run = executor.run("ticket-7").start()?;
    /// let turn = run.turn(3, &[Call::new("tell_place", "{}"), call]).await?;
    /// assert_eq!(turn.answers()[1].text(), "Some(3) Some(1)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn turn(&self) -> Option<u64> {
        self.0.slot.map(|(turn, _)| turn)
    }

    /// Returns the index of the call in its turn, counted from 0; `None` for a call outside of turns.
    pub fn index(&self) -> Option<u32> {
        self.0.slot.map(|(_, index)| index)
    }

    /// Returns the name by which the tool was called.
    pub fn tool(&self) -> &str {
        &self.0.tool
    }

    /// Returns the idempotency key, for services that take one. It is the same for every attempt of this call.
    pub fn idempotency_key(&self) -> String {
        self.0.key.as_deref().map_or_else(|| self.0.id.to_string(), ToOwned::to_owned)
    }

    /// Returns the current time of the system.
    pub fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    /// Returns whether the call was cancelled, or already has another answer, as after a time-out. An async tool need
    /// not check, because its future is dropped then. A blocking tool should check.
    pub fn is_cancelled(&self) -> bool {
        self.tokens().any(CancellationToken::is_cancelled)
    }

    /// Completes when the call is cancelled or has an answer.
    pub async fn cancelled(&self) {
        let tokens = self.tokens().map(|token| Box::pin(token.cancelled()));
        futures::future::select_all(tokens).await;
    }

    /// Reports the call's progress to listeners: a text, and a fraction between 0 and 1 if it is known.
    pub fn progress(&self, message: &str, part: Option<f64>) {
        if let Some(run) = self.0.run.as_ref().filter(|_| !self.0.ended.is_cancelled()) {
            let kept = self.0.kept.as_deref();
            run.progress(&Progress {
                call: self.0.id,
                provider_id: self.provider_id(),
                run: kept.map_or(run.id(), |kept| &kept.run),
                tool: &self.0.tool,
                digest: kept.map(|kept| &*kept.digest),
                attempt: kept.map(|kept| kept.attempt),
                message,
                part,
            });
        }
    }

    /// Returns the token that is cancelled once the call has its answer.
    #[doc(hidden)]
    #[must_use]
    pub fn ended(&self) -> &CancellationToken {
        &self.0.ended
    }

    /// Records that the call has ended.
    pub(crate) fn end(&self) {
        self.0.ended.cancel();
    }

    /// Returns a service of the run or the executor.
    pub(crate) fn service<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let value = self.0.run.as_deref()?.service(TypeId::of::<T>())?;
        value.downcast_ref::<Arc<T>>().cloned()
    }

    fn tokens(&self) -> impl Iterator<Item = &CancellationToken> {
        let of_run = self.0.run.iter().flat_map(|run| run.cancellations()).flatten();
        std::iter::once(&self.0.ended).chain(&self.0.cancelled).chain(of_run)
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolContext")
            .field("call_id", &self.0.id)
            .field("provider_id", &self.0.provider_id)
            .field("tool", &self.0.tool)
            .finish_non_exhaustive()
    }
}
