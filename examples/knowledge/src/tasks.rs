//! The life cycle of tasks: schedules make them, and workers claim and end them. Every step holds the lock of the
//! library, so that several processes can work in one folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::Timestamp;
use toolwright::untrusted::{fenced, line};
use toolwright::{ErrorClass, ToolError};
use toolwright_toolbox::write_file;

use crate::document::{front_matter, quoted, split, with_value};
use crate::kinds::{Kind as _, Schedule, Status, Task};
use crate::library::Library;

/// The file that records, by the id of each schedule, until when its due times have been processed.
const LOOKED_AT: &str = ".knowledge/schedules.json";

/// The folder with a lock file for each worker.
const WORKERS: &str = ".knowledge/workers";

/// A task that a schedule has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledTask {
    /// The name of the task's file.
    pub name: String,
    /// How many earlier due times of the schedule passed without a task.
    pub missed: usize,
}

/// Makes a task for each schedule that is due, for its latest due time. The task says how many earlier due times were
/// missed. A new schedule is not due before now.
///
/// # Errors
/// When a file cannot be written.
pub fn make_due(library: &Library, now: Timestamp) -> Result<Vec<ScheduledTask>, ToolError> {
    library.alone(|| {
        let looked_at = match library.files().exists(LOOKED_AT)? {
            true => library.files().read_text(LOOKED_AT)?,
            false => "{}".to_owned(),
        };
        let mut looked_at: BTreeMap<String, Timestamp> =
            serde_json::from_str(&looked_at).map_err(ToolError::internal)?;
        let mut made = Vec::new();
        for name in library.names(Schedule::FOLDER) {
            let text = library.files().read_text(&format!("{}/{name}.md", Schedule::FOLDER))?;
            let Ok(schedule) = front_matter::<Schedule>(&text) else { continue };
            let since = looked_at.insert(schedule.id.clone(), now).unwrap_or(now);
            let Some(due) = schedule.due(since, now).filter(|_| schedule.enabled) else { continue };
            let task = format!("{name}-{}", due.latest.strftime("%Y%m%dT%H%M"));
            let path = format!("{}/{task}.md", Task::FOLDER);
            // If the file exists, another process made the task and was killed before it recorded that.
            if !library.files().exists(&path)? {
                let (_, body) = split(&text).map_err(ToolError::invalid)?;
                let front = with_value("---\nstatus: pending\n---\n", "id", Some(&quoted(&task)));
                let mut content = front.map_err(ToolError::internal)? + body;
                if due.missed > 0 {
                    content.push_str(&missed_line(due.missed));
                }
                write_file(library.files(), path, content, None)?;
                made.push(ScheduledTask { name: task, missed: due.missed });
            }
        }
        let looked_at = serde_json::to_string(&looked_at).map_err(ToolError::internal)?;
        write_file(library.files(), LOOKED_AT.to_owned(), looked_at, None)?;
        Ok(made)
    })
}

fn missed_line(missed: usize) -> String {
    match missed {
        1 => "\nOne earlier time of the schedule was missed.\n".to_owned(),
        missed => format!("\n{missed} earlier times of the schedule were missed.\n"),
    }
}

/// The lock of a worker. Its file stays locked until the worker ends, so that other workers can check whether the
/// worker still exists.
#[derive(Debug)]
pub struct WorkerLock {
    id: String,
    file: PathBuf,
    _locked: File,
}

impl WorkerLock {
    /// Creates and locks a file with a new name.
    ///
    /// # Errors
    /// When the file cannot be made or locked.
    pub fn take(library: &Library, now: Timestamp) -> Result<Self, ToolError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let id = format!("worker-{}-{}-{number}", std::process::id(), now.as_millisecond());
        let folder = library.files().root().join(WORKERS);
        fs::create_dir_all(&folder)?;
        let file = folder.join(&id);
        let locked = File::create(&file)?;
        locked.lock()?;
        Ok(Self { id, file, _locked: locked })
    }

    /// Returns the id of the worker, which the tasks that it has claimed have in `claimed_by`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for WorkerLock {
    fn drop(&mut self) {
        // If the file cannot be removed, dropping this value still unlocks it, so that other workers see that the
        // worker has ended.
        let _ = fs::remove_file(&self.file);
    }
}

/// Returns whether the worker with this id still exists.
fn is_alive(library: &Library, worker: &str) -> bool {
    let is_name = worker.chars().all(|it| it.is_ascii_alphanumeric() || it == '-');
    is_name
        && File::open(library.files().root().join(WORKERS).join(worker))
            .is_ok_and(|file| file.try_lock().is_err())
}

/// A task that a worker has claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedTask {
    /// The name of the task's file.
    pub name: String,
    /// The body of the task's file, and the outputs of the tasks that it depends on.
    pub prompt: String,
    worker: String,
}

/// Claims the pending task with the highest priority whose dependencies are all complete. Among tasks of equal
/// priority, claims the first by name. Before that, tasks whose workers have ended become pending again.
///
/// # Errors
/// When a file cannot be written.
pub fn claim(
    library: &Library,
    worker: &WorkerLock,
    now: Timestamp,
) -> Result<Option<ClaimedTask>, ToolError> {
    library.alone(|| {
        let mut tasks = BTreeMap::new();
        for name in library.names(Task::FOLDER) {
            let text = library.files().read_text(&path(&name))?;
            let Ok(mut task) = front_matter::<Task>(&text) else { continue };
            let is_left = task.status == Status::InProgress
                && !task.claimed_by.as_deref().is_some_and(|it| is_alive(library, it));
            if is_left {
                change(
                    library,
                    &name,
                    &[("status", Some("pending")), ("claimed_by", None), ("claimed_at", None)],
                )?;
                task.status = Status::Pending;
            }
            tasks.insert(name, (task, text));
        }
        let complete: BTreeMap<&str, &Task> = tasks
            .values()
            .filter(|(task, _)| task.status == Status::Complete)
            .map(|(task, _)| (task.id.as_str(), task))
            .collect();
        let is_ready = |task: &Task| {
            task.status == Status::Pending
                && task.blocked_by.iter().all(|id| complete.contains_key(id.as_str()))
        };
        let ready = tasks.iter().filter(|(_, (task, _))| is_ready(task));
        // `max_by_key` returns the last of equal items, so reverse the order.
        let first = ready.rev().max_by_key(|(_, (task, _))| task.priority);
        let Some((name, (task, text))) = first else { return Ok(None) };
        let (id, at) = (quoted(worker.id()), quoted(&now.to_string()));
        let values = [
            ("status", Some("in_progress")),
            ("claimed_by", Some(&*id)),
            ("claimed_at", Some(&*at)),
        ];
        change(library, name, &values)?;
        let (_, body) = split(text).map_err(ToolError::invalid)?;
        let mut prompt = body.trim().to_owned();
        for (id, before) in
            task.blocked_by.iter().filter_map(|id| complete.get_key_value(id.as_str()))
        {
            // An output may contain text of untrusted pages that the other agent has read, so it is fenced.
            let came_to = match before.output.as_deref() {
                Some(output) => fenced(&format!("task `{}`", line(id)), output),
                None => "nothing".to_owned(),
            };
            prompt.push_str(&format!("\n\nThe task `{}` before it came to:\n{came_to}", line(id)));
        }
        Ok(Some(ClaimedTask { name: name.clone(), prompt, worker: worker.id().to_owned() }))
    })
}

/// Ends a claimed task, with its output or the reason why it waits or failed.
///
/// # Errors
/// `not_claimed` when the worker has lost the claim; also when the file cannot be written.
pub fn end(
    library: &Library,
    task: &ClaimedTask,
    status: Status,
    words: &str,
) -> Result<(), ToolError> {
    let field = if status == Status::Waiting { "waiting_reason" } else { "output" };
    leave(library, task, &[("status", Some(status.as_str())), (field, Some(&quoted(words)))])
}

/// Releases a task that was not completed, so that it becomes pending again.
///
/// # Errors
/// As [`end`].
pub fn give_back(library: &Library, task: &ClaimedTask) -> Result<(), ToolError> {
    leave(library, task, &[("status", Some("pending")), ("claimed_by", None), ("claimed_at", None)])
}

fn leave(
    library: &Library,
    task: &ClaimedTask,
    values: &[(&str, Option<&str>)],
) -> Result<(), ToolError> {
    library.alone(|| {
        let text = library.files().read_text(&path(&task.name))?;
        let now = front_matter::<Task>(&text).map_err(ToolError::invalid)?;
        if now.status != Status::InProgress || now.claimed_by.as_deref() != Some(&task.worker) {
            let message = format!("`{}` is not claimed by this worker any more", task.name);
            return Err(ToolError::new("not_claimed", message).class(ErrorClass::Final));
        }
        change(library, &task.name, values)
    })
}

/// Sets values in the front matter of a task. The caller has to hold the lock.
fn change(library: &Library, name: &str, values: &[(&str, Option<&str>)]) -> Result<(), ToolError> {
    let path = path(name);
    let mut text = library.files().read_text(&path)?;
    for (key, value) in values {
        text = with_value(&text, key, *value).map_err(ToolError::invalid)?;
    }
    front_matter::<Task>(&text).map_err(|why| ToolError::new(Task::INVALID, why))?;
    write_file(library.files(), path, text, None)?;
    Ok(())
}

fn path(name: &str) -> String {
    format!("{}/{name}.md", Task::FOLDER)
}
