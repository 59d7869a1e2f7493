//! The table of cached answers. It does no I/O: its callers pass the time, counted from the creation of the table, and
//! the stamps of resources.
//!
//! - No entry conflicts with a write that is in progress. Conflicting entries are removed when the write begins, and
//!   the answer of a read that conflicts with the write is not stored.
//! - The size of the entries never exceeds the limit.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::FixedState;

use super::CacheStatistics;
use toolwright::{Footprint, ResourceStamp};

/// The approximate size of an entry in bytes, without the answer and the names in it.
const OVERHEAD: usize = 256;

/// The cached answers, of type `A`, by the keys of their calls, of type `K`.
#[derive(Debug)]
pub(super) struct Table<K, A> {
    limits: Limits,
    entries: HashMap<Arc<K>, Entry<A>, FixedState>,
    /// The entries in the order of their last use.
    by_use: BTreeMap<u64, Arc<K>>,
    reads: HashMap<u64, PendingRead, FixedState>,
    writes: HashMap<u64, Footprint, FixedState>,
    next: u64,
    statistics: CacheStatistics,
}

/// The maximum size of the cache, and how long its answers are valid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) bytes: usize,
    pub(super) lifetime: Duration,
}

#[derive(Debug)]
struct Entry<A> {
    answer: A,
    footprint: Footprint,
    stamps: Box<[ResourceStamp]>,
    bytes: usize,
    until: Duration,
    used: u64,
}

/// A read that has begun and has not ended.
#[derive(Debug)]
struct PendingRead {
    footprint: Footprint,
    /// Whether the answer must not be stored, because of a conflicting write or because the cache was cleared
    /// meanwhile.
    is_stale: bool,
}

/// The id of a read or a write that has begun and has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenAccess(u64);

/// The answer of a read that may be stored.
#[derive(Debug)]
pub(super) struct ReadResult<K, A> {
    pub(super) key: K,
    pub(super) answer: A,
    pub(super) bytes: usize,
    /// The stamps that the resources had before the read began.
    pub(super) stamps: Box<[ResourceStamp]>,
}

impl<K: Eq + std::hash::Hash, A> Table<K, A> {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            entries: HashMap::default(),
            by_use: BTreeMap::new(),
            reads: HashMap::default(),
            writes: HashMap::default(),
            next: 0,
            statistics: CacheStatistics::default(),
        }
    }

    /// Returns the cached answer of a call, if its resources still have these stamps.
    pub(super) fn look_up(
        &mut self,
        key: &K,
        stamps: &[ResourceStamp],
        now: Duration,
    ) -> Option<&A> {
        let known = self.entries.get(key).map(|entry| (entry.until, &*entry.stamps == stamps));
        match known {
            Some((until, true)) if now < until => {}
            Some((until, is_unchanged)) => {
                let counter = match is_unchanged && until <= now {
                    true => &mut self.statistics.expirations,
                    false => &mut self.statistics.invalidations,
                };
                *counter += 1;
                self.statistics.misses += 1;
                self.remove(key);
                return None;
            }
            None => {
                self.statistics.misses += 1;
                return None;
            }
        }
        self.statistics.hits += 1;
        let used = self.tick();
        let entry = self.entries.get_mut(key)?;
        let key = self.by_use.remove(&entry.used)?;
        self.by_use.insert(used, key);
        entry.used = used;
        Some(&entry.answer)
    }

    /// Records that a read begins whose answer may be cached.
    pub(super) fn begin_read(&mut self, footprint: &Footprint) -> OpenAccess {
        let is_stale = self.writes.values().any(|write| write.conflicts_with(footprint));
        let id = self.tick();
        self.reads.insert(id, PendingRead { footprint: footprint.clone(), is_stale });
        OpenAccess(id)
    }

    /// Ends a read, and caches its answer unless a conflicting write was in progress or the cache was cleared during
    /// the read.
    pub(super) fn end_read(
        &mut self,
        begun: OpenAccess,
        found: Option<ReadResult<K, A>>,
        now: Duration,
    ) {
        let read = self.reads.remove(&begun.0).filter(|read| !read.is_stale);
        let (Some(read), Some(found)) = (read, found) else { return };
        self.remember(read.footprint, found, now);
    }

    /// Begins a write, and removes the answers that the write may invalidate.
    pub(super) fn begin_write(&mut self, footprint: &Footprint) -> OpenAccess {
        self.forget(footprint);
        let id = self.tick();
        self.writes.insert(id, footprint.clone());
        OpenAccess(id)
    }

    /// Ends a write, whatever its result. No answer that the write may invalidate was stored meanwhile.
    pub(super) fn end_write(&mut self, begun: OpenAccess) {
        self.writes.remove(&begun.0);
    }

    /// Removes every cached answer, and prevents reads that are in progress from storing their answers.
    pub(super) fn clear(&mut self) {
        self.statistics.invalidations += self.entries.len() as u64;
        self.entries.clear();
        self.by_use.clear();
        self.statistics.bytes = 0;
        self.reads.values_mut().for_each(|read| read.is_stale = true);
    }

    pub(super) fn statistics(&self) -> CacheStatistics {
        CacheStatistics { entries: self.entries.len(), ..self.statistics }
    }

    fn remember(&mut self, footprint: Footprint, found: ReadResult<K, A>, now: Duration) {
        let ReadResult { key, answer, bytes, stamps } = found;
        let names = footprint.resources_read().unwrap_or_default().iter();
        let names: usize = names.map(|it| it.name().map_or(0, str::len)).sum();
        let bytes = bytes.saturating_add(names).saturating_add(OVERHEAD);
        // Two equal reads may run at the same time. The answer of the one that ends last replaces the other answer.
        self.remove(&key);
        if bytes > self.limits.bytes / 2 {
            self.statistics.too_large += 1;
            return;
        }
        while self.statistics.bytes + bytes > self.limits.bytes {
            let Some((_, least)) = self.by_use.pop_first() else { break };
            if let Some(evicted) = self.entries.remove(&least) {
                self.statistics.bytes -= evicted.bytes;
                self.statistics.evictions += 1;
            }
        }
        let (key, used) = (Arc::new(key), self.tick());
        let until = now.saturating_add(self.limits.lifetime);
        let entry = Entry { answer, footprint, stamps, bytes, until, used };
        self.statistics.bytes += bytes;
        self.by_use.insert(used, Arc::clone(&key));
        self.entries.insert(key, entry);
    }

    /// Removes the cached answers that conflict with a write, and prevents conflicting reads that are in progress from
    /// storing their answers.
    fn forget(&mut self, write: &Footprint) {
        let Self { entries, by_use, reads, statistics, .. } = self;
        entries.retain(|_, entry| {
            let stays = !entry.footprint.conflicts_with(write);
            if !stays {
                by_use.remove(&entry.used);
                statistics.bytes -= entry.bytes;
                statistics.invalidations += 1;
            }
            stays
        });
        for read in reads.values_mut().filter(|read| !read.is_stale) {
            read.is_stale = read.footprint.conflicts_with(write);
        }
    }

    fn remove(&mut self, key: &K) {
        if let Some(entry) = self.entries.remove(key) {
            self.by_use.remove(&entry.used);
            self.statistics.bytes -= entry.bytes;
        }
    }

    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}
