//! A server on loopback that replays a recording, and refuses other requests.
//!
//! - Requests have to come in the order of the recording, each once. A request that differs from the recorded one is
//!   refused, and so is every request after it. [`Replay::finish`] reports the first difference.
//! - Ids may differ if each recorded id has exactly one counterpart.
//! - If a request asks for a stream although the recorded request did not, the recorded answer is streamed.
//! - A recording has named placeholders for other parts that differ between runs, such as times: see [`Placeholders`].

mod compare;
mod error;
mod placeholders;
mod recorder;
mod secrets;
mod server;
mod streamed;
mod strings;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use self::compare::Difference;
pub use self::error::ReplayError;
pub use self::placeholders::Placeholders;
pub use self::recorder::Recorder;
use self::server::ServedExchanges;
use crate::recording::Recording;

/// A running server that replays a recording. The server stops when this value is dropped.
///
/// ```
/// use toolwright_agent::recording::Recording;
/// use toolwright_agent::testing::{Placeholders, Replay};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let recording: Recording = concat!(
///     r#"{"recording":1,"provider":"anthropic"}"#, "\n",
///     r#"{"request":{"method":"POST","path":"/v1/messages","body":{"model":"m"}},"#,
///     r#""response":{"status":200,"body":{"type":"message"}}}"#,
/// ).parse()?;
/// let replay = Replay::of(recording, Placeholders::standard()).start().await?;
/// assert!(replay.url().starts_with("http://127.0.0.1:"));
///
/// // No request came.
/// let error = replay.finish().unwrap_err();
/// assert_eq!(error.to_string(), "1 of 1 recorded exchanges were not asked for, the first of them POST /v1/messages");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Replay {
    address: SocketAddr,
    served: Arc<Mutex<ServedExchanges>>,
    server: JoinHandle<()>,
}

/// The options of a [`Replay`].
#[derive(Debug)]
pub struct ReplayBuilder {
    recording: Recording,
    placeholders: Placeholders,
    compares: bool,
}

impl Replay {
    /// Replays this recording, with its placeholders replaced by these values.
    #[must_use]
    pub fn of(recording: Recording, placeholders: Placeholders) -> ReplayBuilder {
        ReplayBuilder { recording, placeholders, compares: true }
    }

    /// Returns the base URL of the replay server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops the server.
    ///
    /// # Errors
    /// When a request was refused, or not all recorded exchanges were requested.
    pub fn finish(self) -> Result<(), ReplayError> {
        self.server.abort();
        self.served.lock().unwrap_or_else(PoisonError::into_inner).finish()
    }
}

impl ReplayBuilder {
    /// Answers every request with the next recorded response, without comparing the request. Use this to make a new
    /// recording when requests are meant to differ from the recorded ones.
    #[must_use]
    pub fn without_comparison(mut self) -> Self {
        self.compares = false;
        self
    }

    /// Starts the server on a free port of loopback. Needs a tokio runtime.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(self) -> std::io::Result<Replay> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let served = ServedExchanges::new(self.recording, self.placeholders, self.compares);
        let served = Arc::new(Mutex::new(served));
        let server = tokio::spawn(server::run(listener, Arc::clone(&served)));
        Ok(Replay { address, served, server })
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.server.abort();
    }
}

#[cfg(test)]
mod tests;
