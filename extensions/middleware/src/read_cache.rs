//! A cache of answers to reads. It stores an answer until the resources that the call has read may have changed.

mod stage;
mod table;
#[cfg(test)]
mod tests;

use std::any::TypeId;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use self::table::{Limits, Table};
use toolwright::{SharedServices, StoredAnswer, TouchedResource};

const LIMITS: Limits = Limits { bytes: 5 * 1024 * 1024, lifetime: Duration::from_secs(5 * 60) };

/// A middleware that answers a call of effect `read` with the answer of an earlier equal call. It does so as long as
/// the resources that the earlier call has read are unchanged. Executors of one process that share a cache see each
/// other's writes.
///
/// - A call is answered from the cache if the function of its tool, the tool's definition, its final arguments and its
///   user are those of the earlier call, and its [`Footprint`](toolwright::Footprint) names the resources that it
///   reads. A read that declares no resources is not cached, because the cache could not notice when its answer
///   changes. Errors are not cached.
/// - A tool is not cached if it takes a service of the run or of the call, the `ToolContext`, the `Calls` or a
///   resource, because its answer may differ between callers. The application can declare such a type
///   [`constant`](Self::constant).
/// - An answer is removed when a call begins that writes any of the resources on which the answer depends. Until that
///   call has ended, no answer that depends on these resources is stored. A blocking tool that timed out or was
///   cancelled may still write after its call has ended, which the cache does not notice. A call of another effect than
///   `read` that does not declare what it writes empties the cache.
/// - Changes that no call makes are noticed if the kind of resource implements
///   [`stamp`](toolwright::ResourceKind::stamp). A file has a stamp, except in the first two seconds
///   after a change. A folder has none, so a search in a folder is not cached.
/// - An answer is valid for 5 minutes. The cache contains at most 5 MiB. If it is full, the least recently used answers
///   are removed. An answer larger than half of the cache is not cached.
///
/// A call that is answered from the cache has passed the policy like any other. Listeners receive its events, with
/// `Cached` among them.
///
/// ```
/// use toolwright::{Call, Executor, Registry, ResourceKind, tool};
/// use toolwright_middleware::ReadCache;
///
/// struct Ticket;
///
/// impl ResourceKind for Ticket {
///     const LABEL: &'static str = "ticket";
/// }
///
/// /// Reads a ticket.
/// #[tool(effect = read, reads(Ticket = number))]
/// async fn read_ticket(
///     /// Which.
///     number: u32,
/// ) -> String {
///     format!("ticket {number}")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let cache = ReadCache::new();
/// let builder = Executor::builder(Registry::of([READ_TICKET])?);
/// let executor = builder.middleware(cache.clone()).build()?;
/// for _ in 0..3 {
///     executor.call(&Call::new("read_ticket", r#"{"number":7}"#)).await;
/// }
/// assert_eq!((cache.statistics().hits, cache.statistics().misses), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ReadCache {
    shared: Arc<Shared>,
    constant: Vec<TypeId>,
}

struct Shared {
    since: Instant,
    table: Mutex<Table<Key, StoredAnswer>>,
}

/// The key of a cached answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    /// The digest of tool, definition, final arguments and user.
    digest: String,
    /// The tool's function, with the executor's services if the tool uses a service that is not declared constant.
    services: SharedServices,
    reads: Box<[TouchedResource]>,
}

/// The numbers of hits, misses and removals of a [`ReadCache`], and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CacheStatistics {
    /// The number of calls that were answered from the cache.
    pub hits: u64,
    /// The number of calls whose answers can be cached, but were not in the cache.
    pub misses: u64,
    /// The number of answers that were removed because the cache was cleared, or because a resource on which they
    /// depend was written or has changed.
    pub invalidations: u64,
    /// The number of answers that were removed because they had expired.
    pub expirations: u64,
    /// The number of answers that were removed to make room for others.
    pub evictions: u64,
    /// The number of answers that were not cached because they are larger than half of the cache.
    pub too_large: u64,
    /// The number of answers in the cache.
    pub entries: usize,
    /// The size of the cached answers in bytes.
    pub bytes: usize,
}

impl ReadCache {
    /// Makes an empty cache.
    #[must_use]
    pub fn new() -> Self {
        let (since, table) = (Instant::now(), Mutex::new(Table::new(LIMITS)));
        Self { shared: Arc::new(Shared { since, table }), constant: Vec::new() }
    }

    /// Declares that answers do not depend on which value of this type a tool takes. They may still depend on it
    /// through the resources that the tool names. One example is a workspace, because the footprints of two workspaces
    /// name different files. Another is a `ToolContext` that tools use only to see whether they are cancelled. The
    /// declaration applies to the executors to which this value, or a later clone of it, is added.
    ///
    /// ```
    /// use toolwright::ToolContext;
    /// use toolwright_middleware::ReadCache;
    ///
    /// let cache = ReadCache::new().constant::<ToolContext>();
    /// assert_eq!(cache.statistics().hits, 0);
    /// ```
    #[must_use]
    pub fn constant<T: ?Sized + 'static>(mut self) -> Self {
        self.constant.push(TypeId::of::<T>());
        self
    }

    /// Returns the counts since the cache was made, and the current size of the cache.
    #[must_use]
    pub fn statistics(&self) -> CacheStatistics {
        self.shared.table().0.statistics()
    }

    /// Removes every answer, for instance after a change that no call made.
    pub fn clear(&self) {
        self.shared.table().0.clear();
    }

    fn is_constant(&self, id: TypeId) -> bool {
        self.constant.contains(&id)
    }
}

impl Default for ReadCache {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ReadCache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cache = formatter.debug_struct("ReadCache");
        cache.field("statistics", &self.statistics()).finish_non_exhaustive()
    }
}

impl Shared {
    /// Locks the table, and returns it with the time since the cache was made.
    fn table(&self) -> (MutexGuard<'_, Table<Key, StoredAnswer>>, Duration) {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        (table, self.since.elapsed())
    }
}
