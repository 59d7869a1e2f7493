//! The errors of a store, divided by what the caller can do about them.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::record::CallSlot;
use toolwright_core::context::CallId;

/// Why a store did not commit a transaction, renew a lease or acknowledge an answer: the request conflicts with what is
/// in the store, or the store failed.
///
/// - After a conflict nothing was changed. Load the call or document, and decide again at once.
/// - After [`Store`](Self::Store), the [`StoreErrorKind`] says what to do. A commit whose reply was lost may have
///   succeeded.
///
/// ```
/// use toolwright::journal::{CommitError, DocumentWrite, MemoryStore, Store, StoreErrorKind, Transaction};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = MemoryStore::new();
/// let change = DocumentWrite { key: "note".to_owned(), expects: Some(3), text: Some("hello".to_owned()) };
/// let unit = Transaction { documents: vec![change], ..Transaction::default() };
/// match store.commit(unit, jiff::Timestamp::UNIX_EPOCH).await {
///     Err(CommitError::Document { found, .. }) => assert_eq!(found, None),
///     Err(error) if error.is_unavailable() => println!("try again after a pause: {error}"),
///     other => panic!("{other:?}"),
/// }
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The version of a call in the store is not the version that the write expects.
    #[error("call {call} is at version {found:?}, not at {expected:?}")]
    Call {
        /// The id of the call.
        call: CallId,
        /// The version that the writer expected.
        expected: Option<u64>,
        /// The version of the call in the store; `None` if the store has no such call.
        found: Option<u64>,
    },
    /// Another call already has the slot of the new call.
    #[error("call {holder} has that place of run `{}` already", place.run)]
    CallSlot {
        /// The slot: run, turn and index.
        place: CallSlot,
        /// The id of the call that has the slot.
        holder: CallId,
    },
    /// A lease could not be renewed: the call is not running any more, another executor runs it, or the store has no
    /// such call.
    #[error("lease lost: call {call} has ended or has a newer epoch than {epoch}")]
    Fenced {
        /// The id of the call.
        call: CallId,
        /// The epoch of the executor that made the request.
        epoch: u64,
    },
    /// A write would take a call away from its owner, whose lease is still valid.
    #[error("call {call} is leased to its owner until {until}")]
    Leased {
        /// The id of the call.
        call: CallId,
        /// The end of the lease.
        until: Timestamp,
    },
    /// The store has no call with this id.
    #[error("there is no call {call} to be acknowledged")]
    NoCall {
        /// The id of the call.
        call: CallId,
    },
    /// The version of a document in the store is not the version that the write expects.
    #[error("document `{key}` is at version {found:?}, not at {expected:?}")]
    Document {
        /// The key of the document.
        key: String,
        /// The version that the writer expected.
        expected: Option<u64>,
        /// The version of the document in the store; `None` if the store has no such document.
        found: Option<u64>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
toolwright_core::debug_as_sentence!(CommitError);

impl CommitError {
    /// Reports whether the request conflicts with what is in the store, usually because another writer was first.
    /// Nothing was changed; the caller should load the call or document and decide again.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        !matches!(self, Self::Store(_))
    }

    /// Reports whether the store cannot be reached at the moment, or is busy. The commit may have succeeded, so the
    /// caller should wait and read the call again.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_unavailable())
    }
}

/// What a caller can do about the failure of a [`Store`]. A conflict is not a failure of the store; see
/// [`CommitError`].
///
/// [`Store`]: super::Store
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store cannot be reached, or is busy. Try again after a pause. A commit may have succeeded although its reply
    /// was lost, so load the call first.
    Unavailable,
    /// The stored data is damaged. A person has to restore it.
    Corrupt,
    /// A newer release wrote the stored data. Use that release.
    Newer,
    /// The storage is full, and nothing was written. A person has to free space.
    Full,
    /// The store refuses the request, or is set up wrongly; nothing was written. A retry would fail too.
    Invalid,
}

impl fmt::Display for StoreErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Unavailable => "unavailable",
            Self::Corrupt => "corrupt",
            Self::Newer => "newer",
            Self::Full => "full",
            Self::Invalid => "invalid",
        })
    }
}

/// The failure of a store. It has a kind, which says what the caller can do, a message for people, and a cause.
///
/// Two errors are equal if their kinds and messages are equal; causes are not compared.
///
/// ```
/// use std::error::Error;
/// use toolwright::journal::{StoreError, StoreErrorKind};
///
/// let cause = std::io::Error::from(std::io::ErrorKind::TimedOut);
/// let error = StoreError::unavailable("journal `calls` cannot be reached").with_source(cause);
/// assert_eq!(error.kind(), StoreErrorKind::Unavailable);
/// assert!(error.is_unavailable());
/// assert!(error.source().is_some());
/// ```
#[derive(Clone)]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
    source: Option<Arc<dyn Error + Send + Sync>>,
}
toolwright_core::debug_as_sentence!(StoreError);

impl StoreError {
    /// Makes an error. The message should name the store, what was found, what was expected, and what to do.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Makes an error of the kind [`Unavailable`](StoreErrorKind::Unavailable).
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Unavailable, message)
    }

    /// Makes an error of the kind [`Corrupt`](StoreErrorKind::Corrupt).
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Corrupt, message)
    }

    /// Makes an error of the kind [`Newer`](StoreErrorKind::Newer).
    pub fn newer(message: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Newer, message)
    }

    /// Makes an error of the kind [`Full`](StoreErrorKind::Full).
    pub fn full(message: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Full, message)
    }

    /// Makes an error of the kind [`Invalid`](StoreErrorKind::Invalid).
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Invalid, message)
    }

    /// Makes the error for a write that gives a call another slot than the store has for it.
    #[must_use]
    pub fn moved(call: CallId) -> Self {
        Self::invalid(format!(
            "call {call} is written with another place, but the place of a call never changes"
        ))
    }

    /// Makes the error for a call that the store has but cannot read. `why` describes the damage, and must not repeat
    /// stored values, which may be secret.
    #[must_use]
    pub fn damaged(call: CallId, why: impl fmt::Display) -> Self {
        Self::corrupt(format!(
            "call {call} cannot be read: {why}. It is damaged, or a newer release wrote it: restore it from a backup, or \
             use that release"
        ))
    }

    /// Adds the cause of the failure.
    #[must_use]
    pub fn with_source(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { source: Some(Arc::from(source.into())), ..self }
    }

    /// Returns the kind of the error, by which a caller decides what to do.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Reports whether the operation may succeed if it is tried again after a pause.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.kind == StoreErrorKind::Unavailable
    }
}

impl StoreError {
    /// Reports whether the stored data cannot be read, while the store itself can be reached.
    #[doc(hidden)]
    #[must_use]
    pub fn is_of_a_row(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Corrupt | StoreErrorKind::Newer)
    }
}

impl PartialEq for StoreError {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.message) == (other.kind, &other.message)
    }
}

impl Eq for StoreError {}

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|it| &**it as &(dyn Error + 'static))
    }
}
