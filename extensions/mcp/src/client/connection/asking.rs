//! Requests that change nothing. If the server does not know the session, the request is repeated once in a new session.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceError;
use rmcp::model::{ClientRequest, ErrorCode, ServerResult};
use tokio::time::timeout;
use toolwright::ToolError;

use super::Server;
use crate::client::http::is_session_unknown;
use crate::client::pages::Pages;
use crate::sent_request::SentRequest;

/// How long a server may take for an answer, unless its configuration sets another limit.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long all pages of a list may take, as a multiple of the time for one answer.
const LIST: u32 = 10;

/// The maximum number of times that a request is sent: a second time if it needs a new session.
const MOST_SENT: usize = 2;

impl Server {
    /// Begins a list whose pages are requested by [`ask`](Self::ask).
    pub(in crate::client) fn pages(&self) -> Pages {
        Pages::within(self.patience().saturating_mul(LIST))
    }

    fn patience(&self) -> Duration {
        self.call_timeout().unwrap_or(PATIENCE)
    }

    /// Sends a request to the server, and starts the server if it does not run. Returns `None` if the server does not
    /// know the method.
    pub(in crate::client) async fn ask(
        self: &Arc<Self>,
        request: ClientRequest,
    ) -> Result<Option<ServerResult>, ToolError> {
        let closed = self.closed();
        let patience = self.patience();
        for sent in 1..=MOST_SENT {
            let (line, _) = self.live(&closed).await?;
            let _asking = line.questions.begin();
            let asked =
                async { SentRequest::send(&line.peer, request.clone()).await?.answer().await };
            let answer = match timeout(patience, asked).await {
                Ok(answer) => answer,
                Err(_) => return Err(self.timed_out(patience)),
            };
            match answer {
                Ok(answer) => {
                    self.state().restart.note_answer();
                    return Ok(Some(answer));
                }
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                    return Ok(None);
                }
                Err(error) if sent < MOST_SENT && is_session_unknown(&error) => self.lose(&line),
                Err(error) => return Err(self.explain(&line, error).await),
            }
        }
        Err(self.unreachable("no session begins there"))
    }
}
