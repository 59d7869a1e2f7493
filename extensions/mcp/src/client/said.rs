//! The standard error of a server: each line goes to the log, and errors show the last lines.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::time::timeout;
use toolwright::{CancellationToken, printable};

use super::untrusted::fenced;

/// How many lines of the server's standard error an error shows, counted from the end.
const LAST: usize = 8;

/// The maximum length of a line, in bytes; longer lines are split.
const LONGEST: u64 = 1000;

/// How long an error waits for the rest of the standard error after the server has ended.
const REST: Duration = Duration::from_millis(500);

/// The standard error of one server, of which the last lines are stored.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerStderr {
    last: Arc<Mutex<VecDeque<String>>>,
    /// The token that is cancelled at the end of the stream.
    over: CancellationToken,
}

impl ServerStderr {
    /// Reads the stream to its end, so that the server never blocks on a full pipe.
    pub(super) async fn read(self, server: String, stream: impl AsyncRead + Unpin) {
        let _over = self.over.clone().drop_guard();
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut stream).take(LONGEST).read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => self.note_line(&server, &String::from_utf8_lossy(&line)),
            }
        }
    }

    /// Logs and stores a line, without characters that could control a terminal.
    fn note_line(&self, server: &str, line: &str) {
        let line = printable::line(line.trim_end_matches(['\n', '\r']));
        tracing::info!(target: "toolwright_mcp::stderr", server, "{line}");
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == LAST {
            last.pop_front();
        }
        last.push_back(line);
    }

    /// Returns the last lines, to be appended to an error message. Waits up to [`REST`] for the end of the stream.
    pub(super) async fn words(&self, server: &str) -> String {
        let _ = timeout(REST, self.over.cancelled()).await;
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_empty() {
            return String::new();
        }
        let lines = last.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        let source = format!("the standard error of MCP server `{server}`");
        format!("; the last lines of its standard error:\n{}", fenced(&source, &lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server could clear the screen, and print a question of the application.
    #[tokio::test]
    async fn no_line_of_a_server_acts_on_a_terminal_and_the_last_ones_stay() {
        let said = ServerStderr::default();
        let first = "lost\n".repeat(LAST);
        let text = format!("{first}\u{1b}[2JApprove? [y] y\r\n{}", "x\n".repeat(LAST - 1));
        said.clone().read("a".to_owned(), text.as_bytes()).await;
        let words = said.words("a").await;
        assert!(words.contains("\n\\u{1b}[2JApprove? [y] y\nx\n"), "{words}");
        assert!(!words.contains("lost") && !words.contains('\u{1b}'), "{words}");
    }

    #[tokio::test]
    async fn a_line_without_end_is_several() {
        let said = ServerStderr::default();
        let text = "x".repeat(1 << 20);
        said.clone().read("a".to_owned(), text.as_bytes()).await;
        let longest = said.last.lock().unwrap().iter().map(String::len).max();
        assert_eq!(longest, usize::try_from(LONGEST).ok());
    }
}
