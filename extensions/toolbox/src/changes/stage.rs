//! The log as a stage: each call that writes files is recorded before and after its tool.

use futures::future::BoxFuture;
use toolwright::{After, Answer, Around, AroundCall, Before, Content};

use super::log::ChangeLog;
use super::record::{Begun, CallFacts};
use super::tool::milliseconds;
use crate::blocking::blocking;
use crate::footprint::Written;

impl Around for ChangeLog {
    fn before<'a>(&'a self, call: &'a AroundCall<'a>) -> BoxFuture<'a, Before> {
        let written = self.written(call);
        if written.is_nothing() {
            return Box::pin(std::future::ready(Before::GoOn));
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
                Ok(begun) => Before::Then(Box::new(Recording { log: recorder, begun })),
                Err(error) => Before::Refuse(error),
            }
        })
    }
}

impl ChangeLog {
    fn written(&self, call: &AroundCall<'_>) -> Written {
        Written::of(call.footprint(), &self.0.workspace)
    }
}

/// A call whose files are recorded as they were before. Where it is dropped, whoever looks at a file next completes its
/// change.
struct Recording {
    log: ChangeLog,
    begun: Begun,
}

impl After for Recording {
    fn after<'a>(
        self: Box<Self>,
        _: &'a AroundCall<'a>,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        Box::pin(async move {
            let finish = move || self.log.finish(self.begun, milliseconds());
            let finished = blocking(finish).await.and_then(|finished| finished);
            // The call has happened, and the next look at the file completes its change.
            let error = finished.err()?;
            let warning =
                format!("warning: what the call changed is not recorded yet: {}", error.message());
            answer.with(Content::text(warning))
        })
    }
}
