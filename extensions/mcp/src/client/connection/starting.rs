//! Starts a server: one start at a time, after a backoff that grows with each failure. A start is given up when the
//! servers are closed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::Peer;
use tokio::time::timeout;
use toolwright::{CancellationToken, ErrorClass, ToolError};

use super::{Live, Server};
use crate::client::handler::Handler;
use crate::client::questions::Questions;
use crate::client::reports::Reports;
use crate::client::untrusted::line;

/// The longest backoff for which a call waits before a restart; with a longer backoff, the call fails.
const PATIENCE: Duration = Duration::from_secs(2);

impl Server {
    /// Starts the server, unless it runs already or is closed meanwhile.
    pub(super) async fn bring_up(&self, closed: &CancellationToken) -> Result<(), ToolError> {
        let Some(_one) = closed.run_until_cancelled(self.starting.lock()).await else {
            return Err(self.closed_meanwhile());
        };
        let ended = {
            let mut state = self.state();
            let ended = state.live.take_if(|live| live.has_ended());
            if ended.is_some() {
                state.restart.note_failure(Instant::now());
            } else if state.live.is_some() {
                return Ok(());
            }
            ended
        };
        if let Some(ended) = ended {
            ended.end().await;
        }
        self.start(closed).await
    }

    async fn start(&self, closed: &CancellationToken) -> Result<(), ToolError> {
        let wait = self.state().restart.wait(Instant::now());
        if let Some(wait) = wait.filter(|wait| *wait <= PATIENCE) {
            let waited = closed.run_until_cancelled(tokio::time::sleep(wait)).await;
            waited.ok_or_else(|| self.closed_meanwhile())?;
        } else if let Some(wait) = wait {
            let error = self.unreachable("it has failed, and is not started again yet");
            return Err(error.class(ErrorClass::NotStarted { retry_after: Some(wait) }));
        }
        if closed.is_cancelled() {
            return Err(self.closed_meanwhile());
        }
        // The start counts as a failure in advance, so that a start that is given up counts as one. `note_start`
        // removes this failure.
        self.state().restart.note_failure(Instant::now());
        let changed = Arc::new(AtomicBool::new(false));
        let (reports, questions) = (Reports::default(), Questions::default());
        let handler = Handler {
            server: self.name.clone(),
            changed: Arc::clone(&changed),
            reports: reports.clone(),
            questions: questions.clone(),
            answers: self.answers(),
        };
        let (process, connecting) = self.connect_to_server(handler)?;
        let begin = async {
            let running = connecting.await.map_err(|error| {
                self.unreachable(self.why_no_session()).caused_by(error.to_string())
            })?;
            self.check_revision(running.peer())?;
            let definitions = self.list(running.peer()).await?;
            Ok((running, definitions))
        };
        let begun = tokio::select! {
            begun = timeout(self.start_timeout(), begin) => {
                begun.unwrap_or_else(|_| Err(self.unreachable("it does not answer in time")))
            }
            () = closed.cancelled() => Err(self.closed_meanwhile()),
        };
        let (running, definitions) = match begun {
            Ok(begun) => begun,
            Err(error) => {
                let Some(process) = process else { return Err(error) };
                let said = process.said().clone();
                process.end().await;
                let cause = error.source().map(ToString::to_string);
                let error = error.with_more(Some(said.words(&self.name).await));
                return Err(match cause {
                    Some(cause) => error.caused_by(cause),
                    None => error,
                });
            }
        };
        self.state().last_list = Some(Arc::clone(&definitions));
        let (listed, listing) = (tokio::time::Instant::now(), None);
        let is_lost = false;
        let live = Live {
            running,
            process,
            changed,
            is_lost,
            reports,
            questions,
            definitions,
            listed,
            listing,
        };
        let is_closed = {
            let mut state = self.state();
            match closed.is_cancelled() {
                true => Some(live),
                false => {
                    state.restart.note_start();
                    state.live = Some(live);
                    None
                }
            }
        };
        match is_closed {
            None => Ok(()),
            Some(live) => {
                live.end().await;
                Err(self.closed_meanwhile())
            }
        }
    }

    /// Refuses a server that uses an unknown revision of the protocol, because its messages could have another meaning.
    fn check_revision(&self, peer: &Peer<RoleClient>) -> Result<(), ToolError> {
        let known = ProtocolVersion::KNOWN_VERSIONS;
        let spoken = peer.peer_info().map(|info| info.protocol_version.clone());
        let Some(other) = spoken.filter(|spoken| !known.contains(spoken)) else { return Ok(()) };
        let known = known.iter().map(ProtocolVersion::as_str).collect::<Vec<_>>().join(", ");
        let other = line(other.as_str());
        Err(self.unreachable(&format!("it speaks the revision `{other}`, expected one of {known}")))
    }

    fn closed_meanwhile(&self) -> ToolError {
        self.unreachable("it was closed while it started")
    }
}
