//! A page of a list of calls, which also names the calls that cannot be read.

use std::fmt;

use super::error::StoreError;
use toolwright_core::context::CallId;

/// One page of a list of calls.
///
/// ```
/// use toolwright::journal::{Filter, MemoryStore, Page, Store};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = MemoryStore::new();
/// let mut page = Page::first(100);
/// loop {
///     let listed = store.list(&Filter::default(), page).await?;
///     listed.damaged.iter().for_each(|call| println!("{call}"));
///     listed.calls.iter().for_each(|call| println!("{} is {}", call.id, call.state));
///     match listed.next {
///         Some(last) => page = page.after(last),
///         None => break,
///     }
/// }
/// # Ok::<(), toolwright::journal::StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CallPage<T> {
    /// The calls that can be read, in the order of the page.
    pub calls: Vec<T>,
    /// The calls that cannot be read, in the order of the page. The limit of the page includes them.
    pub damaged: Vec<DamagedCall>,
    /// The last call of a full page, for [`Page::after`](super::Page::after). `None` if the page is not full, so that
    /// no calls follow. If the last page is full, the next one is empty.
    pub next: Option<CallId>,
}

/// A call that the store has but cannot read: its row is damaged, or a newer release wrote it. Other calls are listed
/// nevertheless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedCall {
    /// The id of the call.
    pub id: CallId,
    /// Why the call cannot be read; the error names the call.
    pub error: StoreError,
}

impl<T> CallPage<T> {
    /// Makes an empty page that is the last page.
    #[must_use]
    pub fn new() -> Self {
        Self { calls: Vec::new(), damaged: Vec::new(), next: None }
    }

    /// Adds a call to the page, or the error if the call cannot be read. `limit` is the maximum number of calls in the
    /// page, `id` the id of the call.
    pub fn push(&mut self, limit: usize, id: CallId, read: Result<T, StoreError>) {
        match read {
            Ok(call) => self.calls.push(call),
            Err(error) => self.damaged.push(DamagedCall { id, error }),
        }
        self.next = (self.len() >= limit).then_some(id);
    }

    /// Returns the number of calls in the page, readable or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.calls.len() + self.damaged.len()
    }

    /// Reports whether the page contains no calls, neither readable nor unreadable ones.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Converts each readable call of the page by `change`.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> CallPage<U> {
        let Self { calls, damaged, next } = self;
        CallPage { calls: calls.into_iter().map(change).collect(), damaged, next }
    }
}

impl<T> Default for CallPage<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for DamagedCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(formatter)
    }
}
