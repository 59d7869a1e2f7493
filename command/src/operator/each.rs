//! The same is said of several calls. One that has changed since it was read stops none of the others.

use std::time::Duration;

use jiff::Timestamp;
use toolwright::approval::Statement;
use toolwright::journal::{CallRecord, State};

use super::Stop;
use super::decide::{Decider, Saying};

/// What is said of each.
pub(crate) struct Each<'a> {
    pub(crate) calls: &'a [CallRecord],
    /// Where calls stand of which this can be said.
    pub(crate) of: State,
    /// What is done, as in `approving`.
    pub(crate) doing: &'static str,
    /// How long to wait between two of them.
    pub(crate) pause: Option<Duration>,
}

impl Each<'_> {
    /// Says it of one call after the other; the exit code is that of the first that failed.
    pub(crate) async fn say(
        self,
        decider: &Decider<'_>,
        statement: impl Fn(&CallRecord, &str, Timestamp) -> Statement,
    ) -> Result<(), Stop> {
        let mut first = None;
        for (place, call) in self.calls.iter().enumerate() {
            if let Some(pause) = self.pause.filter(|_| place > 0) {
                tokio::time::sleep(pause).await;
            }
            let statement = statement(call, decider.name(), Timestamp::now());
            let saying = Saying { call, statement, of: self.of, doing: self.doing };
            match decider.say(saying).await {
                Ok(()) => {}
                Err(stop) if stop.is_the_end() => return Err(stop),
                Err(stop) => {
                    let exit = stop.told();
                    first = first.or(Some(exit));
                }
            }
        }
        first.map_or(Ok(()), |exit| Err(Stop::after(exit)))
    }
}
