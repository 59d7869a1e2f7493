//! Tasks, which a worker claims, works on and ends.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Kind, Others, Refusal};

/// The front matter of a task.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The id of the task, which never changes; other tasks refer to it.
    pub id: String,
    /// The status. The tools that end a task change it; an edit must not.
    pub status: Status,
    #[serde(default)]
    pub priority: Priority,
    /// The ids of the tasks that have to be complete first.
    #[serde(default)]
    pub blocked_by: Vec<String>,
    /// The worker that has claimed the task. Only workers write this field and those below.
    pub claimed_by: Option<String>,
    claimed_at: Option<String>,
    pub output: Option<String>,
    waiting_reason: Option<String>,
}

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    InProgress,
    Failed,
    Complete,
    Waiting,
}

impl Status {
    /// Returns the text of the front matter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Failed => "failed",
            Self::Complete => "complete",
            Self::Waiting => "waiting",
        }
    }
}

/// The priority of a task among those that can be claimed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    Low,
    #[default]
    Medium,
    High,
}

impl Kind for Task {
    const FOLDER: &'static str = "tasks";
    const INVALID: &'static str = "invalid_task";

    fn may_be_edited(&self, name: &str) -> Result<(), Refusal> {
        match self.status {
            Status::Pending => Ok(()),
            status => {
                let message =
                    format!("`{name}` has the status {status:?}, expected a task that is pending");
                Err(Refusal("not_pending", message))
            }
        }
    }

    fn accept(&self, before: &Self, _: &str, others: &dyn Others) -> Result<(), Refusal> {
        if self.id != before.id {
            let message = format!(
                "the id would be `{}`, expected `{}`: an id never changes",
                self.id, before.id
            );
            return Err(Refusal("id_mismatch", message));
        }
        if self.status != before.status {
            let message =
                "the status would change; only the tools that end a task change it".to_owned();
            return Err(Refusal("status_change_forbidden", message));
        }
        let of_workers = |task: &Self| {
            [&task.claimed_by, &task.claimed_at, &task.output, &task.waiting_reason]
                .map(Clone::clone)
        };
        if of_workers(self) != of_workers(before) {
            let message = "`claimed_by`, `claimed_at`, `output` and `waiting_reason` are changed by workers alone";
            return Err(Refusal("worker_field_change_forbidden", message.to_owned()));
        }
        let tasks = others.tasks().into_values().map(|task| (task.id, task.blocked_by));
        let mut blocked: BTreeMap<String, Vec<String>> = tasks.collect();
        blocked.insert(self.id.clone(), self.blocked_by.clone());
        match leads_back(&self.id, &blocked) {
            None => Ok(()),
            Some(through) => {
                let message = format!("the task would wait for itself through `{through}`");
                Err(Refusal("circular_dependency", message))
            }
        }
    }
}

/// Finds a cycle of dependencies through `id`, and returns its last task.
fn leads_back(id: &str, blocked: &BTreeMap<String, Vec<String>>) -> Option<String> {
    let mut seen = Vec::new();
    let mut open = vec![id];
    while let Some(task) = open.pop() {
        for next in blocked.get(task).into_iter().flatten() {
            if next == id {
                return Some(task.to_owned());
            }
            if !seen.contains(&next.as_str()) {
                seen.push(next);
                open.push(next);
            }
        }
    }
    None
}
