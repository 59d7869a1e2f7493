//! `task_update` changes a task.
//!
//! # What it does
//! It changes everything that is given, or nothing: state, texts, owner, links, and metadata, where `null` removes a key.
//!
//! # What it may touch
//! The task list: the task, and the tasks that it is linked to.
//!
//! # What it refuses
//! A state that may not follow the present one; beginning a task before its blockers are completed; changing the state of a
//! claimed task; links that would make tasks wait for each other.

use std::collections::BTreeMap;

use serde_json::Value;
use toolwright::{ToolError, tool};

use super::id::TaskId;
use super::links::TaskLinks;
use super::status::TaskStatus;
use super::store::TaskStore;
use super::task::Task;
use super::update::TaskUpdate;

/// Change a task: its status, words, owner, links or metadata. What is left out stays as it is. Mark a task `in_progress`
/// when you begin it, and `completed` as soon as it is done.
#[tool(
    unlinked,
    group = "task",
    danger = safe,
    effect = idempotent,
    reads(TaskId = blockers(store, &id, status), TaskLinks = begun(&id, status)),
    writes(
        TaskId = touched(&id, status, &add_blocked_by, &add_blocks),
        TaskLinks = linked(&id, status, &add_blocked_by, &add_blocks)
    ),
    blocking
)]
#[expect(clippy::too_many_arguments, reason = "each is a parameter of the tool")]
pub fn task_update(
    store: &TaskStore,
    /// Which, such as `task-1`.
    #[arg(example = "task-1", positional)]
    id: String,
    /// Its new state.
    #[arg(positional)]
    status: Option<TaskStatus>,
    /// What it is about, in a few words.
    subject: Option<String>,
    /// What is to be done.
    description: Option<String>,
    /// Who it is meant for; the empty text is any worker.
    owner: Option<String>,
    /// Further tasks that have to be completed before it.
    #[arg(default)]
    add_blocked_by: Vec<String>,
    /// Further tasks that wait for it.
    #[arg(default)]
    add_blocks: Vec<String>,
    /// What to record with it; `null` removes a key.
    #[arg(default)]
    metadata: BTreeMap<String, Value>,
) -> Result<Task, ToolError> {
    let update =
        TaskUpdate { subject, description, status, owner, add_blocked_by, add_blocks, metadata };
    store.update(&id, &update)
}

/// Returns the task if the call begins it, since its blockers decide whether it may begin.
fn begun(id: &str, status: Option<TaskStatus>) -> Vec<String> {
    let begins = status == Some(TaskStatus::InProgress);
    begins.then(|| id.to_owned()).into_iter().collect()
}

/// Returns the open blockers of a task that the call begins, since they decide whether it may begin.
fn blockers(store: &TaskStore, id: &str, status: Option<TaskStatus>) -> Vec<String> {
    if status == Some(TaskStatus::InProgress) { store.open_blockers(id) } else { Vec::new() }
}

/// Returns the task and the tasks that the call links to it. If the call deletes the task, returns all tasks, because
/// the task's links are deleted too.
fn touched(
    id: &str,
    status: Option<TaskStatus>,
    blocked_by: &[String],
    blocks: &[String],
) -> Vec<Option<String>> {
    if status == Some(TaskStatus::Deleted) {
        return vec![None];
    }
    let linked = blocked_by.iter().chain(blocks).map(String::as_str);
    std::iter::once(id).chain(linked).map(|it| Some(it.to_owned())).collect()
}

/// Returns the tasks whose blockers the call changes.
fn linked(
    id: &str,
    status: Option<TaskStatus>,
    blocked_by: &[String],
    blocks: &[String],
) -> Vec<Option<String>> {
    if status == Some(TaskStatus::Deleted) {
        return vec![None];
    }
    let own = (!blocked_by.is_empty()).then(|| id.to_owned());
    own.into_iter().chain(blocks.iter().cloned()).map(Some).collect()
}
