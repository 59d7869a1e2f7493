//! The same is said of several calls. One that has changed since it was read stops none of the others.

use std::time::Duration;

use jiff::Timestamp;
use toolwright::approval::Statement;
use toolwright::journal::{CallRecord, State};

use super::Stop;
use super::decide::{Decider, Saying};
use crate::tell;

/// What is said of each.
pub(crate) struct Each<'a> {
    pub(crate) calls: &'a [CallRecord],
    /// Where calls stand of which this can be said.
    pub(crate) of: State,
    /// What is done, as in `approving`.
    pub(crate) doing: &'static str,
    /// How long to wait between two of them.
    pub(crate) pause: Option<Duration>,
    /// Whether they build on each other, so that nothing is said of those after one of which it could not be said.
    pub(crate) in_order: bool,
}

impl Each<'_> {
    /// Says it of one call after the other; the exit code is that of the first that failed. Where the reader of the output has
    /// gone, it is said all the same.
    pub(crate) async fn say(
        self,
        decider: &Decider<'_>,
        statement: impl Fn(&CallRecord, &str, Timestamp) -> Statement,
    ) -> Result<(), Stop> {
        let (mut first, mut unprinted) = (None, None);
        for (place, call) in self.calls.iter().enumerate() {
            if let Some(pause) = self.pause.filter(|_| place > 0) {
                tokio::time::sleep(pause).await;
            }
            let statement = statement(call, decider.name(), Timestamp::now());
            let saying = Saying { call, statement, of: self.of, doing: self.doing };
            match decider.say(saying).await {
                Ok(()) => {}
                Err(stop) if stop.is_unprinted() => unprinted = Some(stop),
                Err(stop) => {
                    let is_the_end = stop.is_the_end();
                    let exit = *first.get_or_insert(stop.report());
                    let left = self.calls.len() - place - 1;
                    if self.in_order && left > 0 {
                        tell("leaving", format!("the {left} after it as they are"));
                    }
                    if is_the_end || self.in_order {
                        return Err(Stop::after(exit));
                    }
                }
            }
        }
        match first {
            Some(exit) => Err(Stop::after(exit)),
            None => unprinted.map_or(Ok(()), Err),
        }
    }
}
