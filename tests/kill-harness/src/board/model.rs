//! The model of a ticket, whose answers depend only on their number, and a lock that detects two runners on one
//! ticket.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use board::runner::{FutureModel, Models};
use board::ticket::Ticket;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use toolwright::dialect::Dialect;
use toolwright::provider::ToolCall;
use toolwright_agent::{Message, Model, ModelAnswer, ModelError, ModelRequest};

use crate::deadly::die;

/// The reasons with which an agent moves a ticket.
pub const REASONS: [&str; 2] = ["I begin", "I am done"];

/// Returns the comments that an agent posts on a ticket, in order.
pub fn comments(ticket: i64) -> [String; 2] {
    [format!("Ticket {ticket} is half done."), format!("Ticket {ticket} is done.")]
}

/// Returns the file that an agent writes in the worktree of a ticket, and its text.
pub fn file(ticket: i64) -> (String, String) {
    (format!("docs/ticket-{ticket}.md"), format!("ticket {ticket}\n"))
}

/// Returns the call of an answer; `None` if the answer ends the run.
fn calls(ticket: i64, answer: usize) -> Option<(&'static str, Value)> {
    let ([half, whole], [begin, done]) = (comments(ticket), REASONS);
    let (path, content) = file(ticket);
    Some(match answer {
        0 => ("ticket_read", json!({})),
        1 => ("ticket_update_state", json!({"state": "IN_PROGRESS", "reason": begin})),
        2 => ("file_write", json!({"path": path, "content": content})),
        3 => ("comment_post", json!({"content": half, "type": "status"})),
        4 => ("ticket_update_state", json!({"state": "VERIFICATION", "reason": done})),
        5 => ("comment_post", json!({"content": whole, "type": "completion"})),
        _ => return None,
    })
}

/// Returns how often a process found that another one was working on its ticket.
///
/// # Errors
/// When the marks cannot be read.
pub fn worked_on_twice(folder: &Path) -> io::Result<usize> {
    match std::fs::read_to_string(folder.join(TWICE)) {
        Ok(marks) => Ok(marks.lines().count()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

const TWICE: &str = "twice";

/// Gives each ticket its model, in one process.
pub struct LockedModels {
    pub folder: PathBuf,
    /// At which answer the process kills itself, counted from 1.
    pub kill: Option<u32>,
    pub answers: Arc<AtomicU32>,
}

impl Models for LockedModels {
    fn model<'a>(&'a self, ticket: &'a Ticket, _: u64) -> FutureModel<'a> {
        Box::pin(async move {
            let lock = self.lock(ticket.id).map_err(|error| format!("no lock: {error}"))?;
            let (kill, answers) = (self.kill, Arc::clone(&self.answers));
            Ok(Arc::new(LockedModel { ticket: ticket.id, kill, answers, _lock: lock }) as _)
        })
    }
}

impl LockedModels {
    /// Locks a ticket as long as its model exists. The system releases the lock of a killed process.
    fn lock(&self, ticket: i64) -> io::Result<File> {
        let lock = File::create(self.folder.join(format!("lock-{ticket}")))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut marks =
                    OpenOptions::new().append(true).create(true).open(self.folder.join(TWICE))?;
                writeln!(marks, "ticket {ticket}")?;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        Ok(lock)
    }
}

struct LockedModel {
    ticket: i64,
    kill: Option<u32>,
    answers: Arc<AtomicU32>,
    _lock: File,
}

impl Model for LockedModel {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let number = self.answers.fetch_add(1, Ordering::SeqCst) + 1;
            if self.kill == Some(number) {
                die();
            }
            let is_answer = |it: &&Message| matches!(it, Message::Assistant { .. });
            let before = request.history.iter().filter(is_answer).count();
            Ok(match calls(self.ticket, before) {
                None => ModelAnswer::text("I am done."),
                Some((name, arguments)) => {
                    let id = Some(format!("call-{}-{before}", self.ticket));
                    let call =
                        ToolCall { id, name: name.to_owned(), arguments: arguments.to_string() };
                    ModelAnswer::new("I go on.", vec![call])
                }
            })
        })
    }
}
