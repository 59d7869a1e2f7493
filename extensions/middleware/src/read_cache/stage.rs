//! The cache as a middleware: answers a known read, stores the answer of an unknown read, and reports every write to
//! the cache.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _, ready};

use super::table::{OpenAccess, ReadResult};
use super::{Key, ReadCache, Shared};
use toolwright::unstable::arguments::{DigestInput, canonical, digest};
use toolwright::{
    AfterCall, Answer, BeforeCall, Effect, Footprint, Middleware, MiddlewareCall, ResourceStamp,
    StoredAnswer, ToolEventKind,
};

impl Middleware for ReadCache {
    fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        ready(self.look_at(call)).boxed()
    }
}

impl ReadCache {
    fn look_at(&self, call: &MiddlewareCall<'_>) -> BeforeCall {
        let footprint = call.footprint();
        let writes = footprint.resources_written();
        if writes.is_none_or(|written| !written.is_empty()) {
            let begun = self.shared.table().0.begin_write(footprint);
            return BeforeCall::Then(Box::new(Writing { shared: Arc::clone(&self.shared), begun }));
        }
        let Some(key) = self.key(call, footprint) else { return BeforeCall::Continue };
        let Some(stamps) = stamps(footprint) else {
            return BeforeCall::Continue;
        };
        let (mut table, now) = self.shared.table();
        if let Some(answer) = table.look_up(&key, &stamps, now).cloned() {
            drop(table);
            call.notify(ToolEventKind::Cached);
            return BeforeCall::Answer(answer.into_answer());
        }
        let begun = table.begin_read(footprint);
        drop(table);
        let shared = Arc::clone(&self.shared);
        BeforeCall::Then(Box::new(Reading { shared, begun, read: Some((key, stamps)) }))
    }

    /// Returns the cache key of a call; `None` if the answer of the call cannot be cached.
    fn key(&self, call: &MiddlewareCall<'_>, footprint: &Footprint) -> Option<Key> {
        let reads = footprint.resources_read().filter(|reads| !reads.is_empty())?;
        if call.definition().effect != Effect::Read {
            return None;
        }
        let services = call.shared_services(|id| self.is_constant(id))?;
        let arguments = canonical(call.arguments()).ok()?;
        let input = DigestInput {
            tool: &call.definition().name,
            fingerprint: call.fingerprint(),
            arguments: &arguments,
            user: call.user(),
            // The session is not a part of the key, because runs and sessions share cached answers.
            session: None,
            run: "",
        };
        let digest = digest(&input, None);
        Some(Key { digest, services, reads: reads.into() })
    }
}

/// Returns the stamps of all resources that the call reads; `None` if one of them has no stamp.
fn stamps(footprint: &Footprint) -> Option<Box<[ResourceStamp]>> {
    footprint.resources_read()?.iter().map(|resource| resource.stamp()).collect()
}

/// A write that is in progress. Dropping this value ends the write.
struct Writing {
    shared: Arc<Shared>,
    begun: OpenAccess,
}

impl AfterCall for Writing {
    fn after<'a>(
        self: Box<Self>,
        _: &'a MiddlewareCall<'a>,
        _: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        drop(self);
        ready(None).boxed()
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.shared.table().0.end_write(self.begun);
    }
}

/// A read that is in progress. If this value is dropped before the read has ended, nothing is stored in the cache.
struct Reading {
    shared: Arc<Shared>,
    begun: OpenAccess,
    /// The key, and the stamps from before the read began, so that the next look-up notices a change during the read.
    read: Option<(Key, Box<[ResourceStamp]>)>,
}

impl AfterCall for Reading {
    fn after<'a>(
        mut self: Box<Self>,
        _: &'a MiddlewareCall<'a>,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        self.end(answer);
        ready(None).boxed()
    }
}

impl Reading {
    fn end(&mut self, answer: &Answer) {
        let Some((key, stamps)) = self.read.take().filter(|_| !answer.is_error()) else { return };
        let answer = StoredAnswer::from(answer);
        // The answer is serialised to find its size. An answer that cannot be serialised is not stored.
        let Ok(text) = serde_json::to_vec(&answer) else { return };
        let found = ReadResult { key, answer, bytes: text.len(), stamps };
        let (mut table, now) = self.shared.table();
        table.end_read(self.begun, Some(found), now);
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let (mut table, now) = self.shared.table();
        table.end_read(self.begun, None, now);
    }
}
