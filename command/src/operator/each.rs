//! Makes the same decision about several calls. A call that has changed since it was read does not stop the decisions
//! about the others, unless these depend on it.

use std::time::Duration;

use jiff::Timestamp;
use toolwright::approval::Statement;
use toolwright::journal::{CallRecord, State};

use super::Stop;
use super::decide::{CallDecision, Decider};
use crate::tell;

/// The same decision about several calls.
pub(crate) struct Each<'a> {
    pub(crate) calls: &'a [CallRecord],
    /// The state that a call must have for this decision.
    pub(crate) of: State,
    /// The verb that is printed before each call, such as `approving`.
    pub(crate) doing: &'static str,
    /// How long to wait between two calls.
    pub(crate) pause: Option<Duration>,
    /// Whether later calls depend on earlier ones. If so, a call that could not be decided ends the command.
    pub(crate) in_order: bool,
}

impl Each<'_> {
    /// Decides one call after the other. Returns the exit code of the first call that failed. A closed output does not
    /// stop the decisions; a failure to record a decision does.
    pub(crate) async fn decide(
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
            let decision = CallDecision { call, statement, of: self.of, doing: self.doing };
            match decider.decide(decision).await {
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
