//! A worker: it makes the tasks of schedules, claims one task after the other, and lets an agent work on each until a
//! terminal tool ends it.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use jiff::Timestamp;
use toolwright::{ExecutorBuilder, ToolError, tool};
use toolwright_agent::{Agent, Model};

use crate::kinds::{Kind as _, Status, Task};
use crate::library::Library;
use crate::tasks::{ClaimedTask, WorkerLock, claim, end, give_back, make_due};

/// Mark the current task as complete with a summary of what was accomplished.
#[tool(unlinked, group = "task", danger = safe, effect = once, writes(file = Task::FOLDER), terminal, blocking)]
pub fn complete_task(
    library: &Library,
    task: &ClaimedTask,
    /// Summary of work done.
    summary: String,
) -> Result<String, ToolError> {
    end(library, task, Status::Complete, &summary)?;
    Ok(format!("Task completed: {summary}"))
}

/// Mark the current task as failed, because it cannot be done.
#[tool(unlinked, group = "task", danger = safe, effect = once, writes(file = Task::FOLDER), terminal, blocking)]
pub fn fail_task(
    library: &Library,
    task: &ClaimedTask,
    /// Why it cannot be done.
    reason: String,
) -> Result<String, ToolError> {
    end(library, task, Status::Failed, &reason)?;
    Ok(format!("Task failed: {reason}"))
}

/// Mark the current task as waiting for something that a person has to do first.
#[tool(unlinked, group = "task", danger = safe, effect = once, writes(file = Task::FOLDER), terminal, blocking)]
pub fn wait_task(
    library: &Library,
    task: &ClaimedTask,
    /// What it waits for.
    reason: String,
) -> Result<String, ToolError> {
    end(library, task, Status::Waiting, &reason)?;
    Ok(format!("Task waits: {reason}"))
}

/// A worker over a library.
pub struct Worker {
    library: Library,
    agent: Agent,
    lock: WorkerLock,
}

impl Worker {
    /// Makes a worker with the tools of an executor, and the tools that end a task.
    ///
    /// # Errors
    /// When a tool lacks a service, or the model cannot be shown the tools.
    pub fn new(
        library: Library,
        executor: ExecutorBuilder,
        model: Arc<dyn Model>,
        now: Timestamp,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let executor = executor
            .tools([COMPLETE_TASK, FAIL_TASK, WAIT_TASK])
            .per_run::<ClaimedTask>()
            .build()?;
        let agent = crate::tools::agent(&executor, model)?;
        let lock = WorkerLock::take(&library, now)?;
        Ok(Self { library, agent, lock })
    }

    /// Makes the due tasks and works on one task. Returns whether there was one, and writes what happens to `out`.
    ///
    /// # Errors
    /// When a file cannot be written; when the model fails, which releases the task.
    pub async fn step(
        &self,
        now: Timestamp,
        out: &mut (impl Write + Send),
    ) -> Result<bool, Box<dyn Error + Send + Sync>> {
        for made in make_due(&self.library, now)? {
            match made.missed {
                0 => writeln!(out, "made `{}`", made.name)?,
                missed => {
                    writeln!(out, "made `{}`; {missed} earlier times were missed", made.name)?
                }
            }
        }
        let Some(task) = claim(&self.library, &self.lock, now)? else { return Ok(false) };
        writeln!(out, "claimed `{}`", task.name)?;
        let ran = self.agent.run(task.prompt.as_str()).with(task.clone()).await;
        match ran {
            // A terminal tool has recorded the end of the task as well. A run that ended otherwise fails the task.
            Ok(result) => match end(&self.library, &task, Status::Failed, UNENDED) {
                Ok(()) => writeln!(out, "`{}` failed: {UNENDED}", task.name)?,
                Err(error) if error.kind() == "not_claimed" => {
                    writeln!(out, "`{}`: {result}", task.name)?;
                }
                Err(error) => return Err(error.into()),
            },
            Err(error) => {
                give_back(&self.library, &task)?;
                return Err(error.into());
            }
        }
        Ok(true)
    }
}

/// The recorded output of a task if no tool has ended the task.
const UNENDED: &str = "the agent stopped without saying whether the task is done";
