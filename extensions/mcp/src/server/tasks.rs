//! Calls that wait for a decision, as tasks that their client polls until they are done (the extension
//! `io.modelcontextprotocol/tasks`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use rmcp::ErrorData;
use rmcp::model::{DetailedTask, JsonObject, Task, TaskPayload, TaskStatus};
use serde::Serialize;
use toolwright::journal::State;
use toolwright::{CallId, Outcome, SuspendedCall, Worker, error_kind};

use super::answer;

/// The maximum number of tasks that a session remembers, so that a client cannot fill the memory.
const MOST_TASKS: usize = 256;

/// How long a client should wait before it polls again, in milliseconds.
const POLL: u64 = 1000;

/// The tasks of one session, by the id of their call.
#[derive(Clone, Default)]
pub(super) struct Tasks(Arc<Mutex<HashMap<String, Entry>>>);

struct Entry {
    call: CallId,
    /// The message that says why the call waits.
    message: String,
    created: Timestamp,
    updated: Timestamp,
    /// The outcome of the call, once it has ended.
    end: Option<TaskPayload>,
    is_cancelled: bool,
}

impl Entry {
    fn task(&self) -> Task {
        let status = self.end.as_ref().map_or(TaskStatus::Working, TaskPayload::status);
        let (created, updated) = (self.created.to_string(), self.updated.to_string());
        let task = Task::new(self.call.to_string(), status, created, updated);
        match self.end {
            Some(_) => task,
            None => task.with_status_message(&*self.message).with_poll_interval_ms(POLL),
        }
    }
}

impl Tasks {
    /// Returns the task for a call that waits for a person's decision or is carried out elsewhere. Returns `None` if
    /// the call waits for something else, or the session has too many tasks. Calls `ended` when the call has an answer,
    /// before the answer can be read.
    pub(super) fn of(
        &self,
        tool: &str,
        waits: &SuspendedCall,
        worker: Worker,
        ended: impl FnOnce() + Send + 'static,
    ) -> Option<Task> {
        let message = match (&waits.request, &waits.handed_over) {
            (Some(request), _) if waits.state == State::Pending => {
                format!("waits for a person's approval: {}", request.reason)
            }
            (_, Some(handed_over)) => {
                format!("is carried out elsewhere; a result is due by {}", handed_over.until)
            }
            _ => return None,
        };
        let id = waits.call.to_string();
        let mut all = self.lock();
        // A task that has ended without the answer of its call begins again.
        if let Some(entry) = all.get(&id).filter(|entry| entry.end.is_none()) {
            return Some(entry.task());
        }
        if all.len() >= MOST_TASKS {
            all.retain(|_, entry| entry.end.is_none());
        }
        if all.len() >= MOST_TASKS {
            return None;
        }
        let now = Timestamp::now();
        let entry = Entry {
            call: waits.call,
            message,
            created: now,
            updated: now,
            end: None,
            is_cancelled: false,
        };
        let task = entry.task();
        all.insert(id.clone(), entry);
        let (tasks, tool, call) = (self.clone(), tool.to_owned(), waits.call);
        tokio::spawn(async move {
            let outcome = worker.wait(call).await;
            // After another outcome, such as a failure of the store, the call still waits in the journal.
            if matches!(outcome, Outcome::Answered(_)) {
                ended();
            }
            tasks.end(&id, &tool, outcome);
        });
        Some(task)
    }

    /// Returns the current state of a task.
    pub(super) fn get(&self, id: &str) -> Result<DetailedTask, ErrorData> {
        let all = self.lock();
        let entry = all.get(id).ok_or_else(unknown)?;
        let payload = entry.end.clone().unwrap_or(TaskPayload::Working);
        Ok(DetailedTask::new(entry.task(), payload))
    }

    /// Notes that the client cancels a task. Returns its call, or `None` if the call has ended.
    pub(super) fn cancel(&self, id: &str) -> Result<Option<CallId>, ErrorData> {
        let mut all = self.lock();
        let entry = all.get_mut(id).ok_or_else(unknown)?;
        entry.is_cancelled = true;
        Ok(entry.end.is_none().then_some(entry.call))
    }

    fn end(&self, id: &str, tool: &str, outcome: Outcome) {
        let is_cancelled = matches!(&outcome, Outcome::Answered(answer)
            if answer.error().is_some_and(|error| error.kind() == error_kind::CANCELLED));
        let payload = match answer::result(tool, outcome, None) {
            Ok(result) => TaskPayload::Completed { result: object(&result) },
            Err(error) => TaskPayload::Failed { error: object(&error) },
        };
        if let Some(entry) = self.lock().get_mut(id) {
            entry.updated = Timestamp::now();
            entry.end = Some(match is_cancelled && entry.is_cancelled {
                true => TaskPayload::Cancelled,
                false => payload,
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn object(value: &impl Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::Object(object)) => object,
        // Unreachable: results and errors of the protocol are objects.
        _ => JsonObject::new(),
    }
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("there is no such task in this session", None)
}
