//! The log as middleware: for each call that writes files, records the states before and after its tool runs.

use futures::future::BoxFuture;
use toolwright::{
    AfterCall, Answer, BeforeCall, Content, ErrorClass, Middleware, MiddlewareCall, ToolError,
    error_kind,
};

use super::log::ChangeLog;
use super::record::{CallFacts, OpenChanges};
use super::tool::milliseconds;
use crate::blocking::blocking;
use crate::footprint::WrittenFiles;

impl Middleware for ChangeLog {
    fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        let written = self.written(call);
        if written.is_nothing() {
            return Box::pin(std::future::ready(BeforeCall::Continue));
        }
        let facts = CallFacts {
            id: call.id(),
            run: Some(call.run().to_owned()),
            turn: call.turn(),
            place: call.index(),
            tool: call.definition().name.clone(),
        };
        let log = self.clone();
        Box::pin(async move {
            let recorder = log.clone();
            let begun = blocking(move || log.begin(&facts, &written, milliseconds())).await;
            match begun.and_then(|begun| begun) {
                Ok(begun) => BeforeCall::Then(Box::new(Recording { log: recorder, begun })),
                Err(error) => BeforeCall::Refuse(error),
            }
        })
    }
}

impl ChangeLog {
    fn written(&self, call: &MiddlewareCall<'_>) -> WrittenFiles {
        WrittenFiles::of(call.footprint(), &self.0.workspace)
    }
}

/// A running call, after the states of its files before the call were recorded. If this value is dropped, or if the
/// tool may still write, the next operation on each file completes the change of that file.
struct Recording {
    log: ChangeLog,
    begun: OpenChanges,
}

impl AfterCall for Recording {
    fn after<'a>(
        self: Box<Self>,
        _: &'a MiddlewareCall<'a>,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        if answer.error().is_some_and(may_still_write) {
            // The tool may still change the files, so do not record their present states.
            return Box::pin(std::future::ready(None));
        }
        Box::pin(async move {
            let finish = move || {
                self.log.finish(self.begun)?;
                self.log.prune(milliseconds());
                Ok(())
            };
            let finished = blocking(finish).await.and_then(|finished| finished);
            // The call has happened, so only warn. The next operation on the file completes the change.
            let error = finished.err()?;
            let warning =
                format!("warning: what the call changed is not recorded yet: {}", error.message());
            answer.with(Content::text(warning))
        })
    }

    fn not_begun(self: Box<Self>) {
        let forget = move || self.log.forget(self.begun);
        match tokio::runtime::Handle::try_current() {
            // Until the rows are removed, the change counts as that of a running call.
            Ok(runtime) => drop(runtime.spawn_blocking(forget)),
            Err(_) => forget(),
        }
    }
}

/// Returns whether a blocking tool may still run although its call has ended with a time-out or a cancellation.
fn may_still_write(error: &ToolError) -> bool {
    !error.is_not_begun()
        && (error.kind() == error_kind::TIMEOUT || error.classified() == ErrorClass::Cancelled)
}
