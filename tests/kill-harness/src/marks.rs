//! The outside world: a file to which all processes append lines. Each line is on disk before the process continues.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use toolwright::journal::State;

use crate::line;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// When it was written.
    pub at: Timestamp,
    /// Which life of the application wrote it.
    pub life: u32,
    /// The process id.
    pub pid: i32,
    /// The event.
    pub what: What,
}

/// The event of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A process begins.
    Started,
    /// The application is about to submit the turn of a run.
    Intended {
        /// The run.
        run: u64,
    },
    /// A tool began.
    Begun(Attempt),
    /// A tool acted, which cannot be undone.
    Acted(Attempt),
    /// A tool ended, with a result, an error or a panic, or was dropped.
    Left {
        /// The call.
        token: String,
    },
    /// The supplier is about to supply a result.
    Offered(Offer),
    /// The executor has accepted a result.
    Accepted {
        /// The call.
        token: String,
        /// The result.
        text: String,
    },
    /// The executor has not accepted a result.
    Refused {
        /// The call.
        token: String,
        /// The result.
        text: String,
        /// Why.
        refusal: Refusal,
    },
    /// The application has an answer.
    Noted {
        /// The call.
        token: String,
        /// What the model reads.
        text: String,
        /// Whether the call failed.
        is_error: bool,
    },
}

/// A result that is supplied, as the supplier knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The call as it was handed over.
    pub attempt: Attempt,
    /// The right to supply a result.
    pub right: String,
    /// The deadline.
    pub until: Timestamp,
    /// The result, which no other offer has.
    pub text: String,
    /// Whether it is an error.
    pub is_error: bool,
}

/// Why a result was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The call had ended.
    Ended(State),
    /// The journal failed, so the result may be recorded nevertheless.
    NotRecorded,
    /// Anything else.
    Other(String),
}

/// An attempt, as its tool knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The token of the call, by which the outside world knows it.
    pub token: String,
    /// The id of the call in the journal.
    pub call: String,
    /// The idempotency key.
    pub key: String,
    /// The argument that a person may change.
    pub amount: u32,
}

/// The file, as one life of the application appends to it.
pub struct Outside {
    file: File,
    /// Whether to wait until a line is on disk.
    is_sure: bool,
    life: u32,
    pid: i32,
    seen: Mutex<Seen>,
}

/// What has been read of the file so far.
struct Seen {
    reader: BufReader<File>,
    /// The beginning of a line whose end is not there yet.
    rest: String,
    pids: HashSet<i32>,
    calls: HashMap<String, Known>,
}

/// What is known of a call.
#[derive(Default)]
struct Known {
    begun: u32,
    /// The attempts of this process that have not ended.
    open: i64,
    acted: bool,
}

impl Outside {
    /// Opens the file in a folder, or creates it. `is_sure` is for processes that may be killed after a line.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(folder: &Path, life: u32, is_sure: bool) -> io::Result<Self> {
        let path = path(folder);
        let file = OpenOptions::new().append(true).create(true).open(&path)?;
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let seen = Seen {
            reader: BufReader::new(File::open(&path)?),
            rest: String::new(),
            pids: HashSet::new(),
            calls: HashMap::new(),
        };
        let outside = Self { file, is_sure, life, pid, seen: Mutex::new(seen) };
        outside.add(What::Started)?;
        Ok(outside)
    }

    /// Appends a line.
    ///
    /// # Errors
    /// When the disk cannot be written.
    pub fn add(&self, what: What) -> io::Result<()> {
        let Self { life, pid, .. } = *self;
        let mark = Mark { at: Timestamp::now(), life, pid, what };
        (&self.file).write_all(line::of(&mark)?.as_bytes())?;
        if self.is_sure { self.file.sync_data() } else { Ok(()) }
    }

    /// Records that a tool begins, and returns how often it had begun before.
    ///
    /// # Errors
    /// When the disk cannot be written.
    pub fn begin(&self, attempt: Attempt) -> io::Result<u32> {
        let token = attempt.token.clone();
        let before = self.seen()?.calls.get(&token).map_or(0, |it| it.begun);
        self.add(What::Begun(attempt))?;
        Ok(before)
    }

    /// Returns whether a call has acted; `None` as long as another living process may still act.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn has_acted(&self, token: &str) -> io::Result<Option<bool>> {
        let seen = self.seen()?;
        let known = seen.calls.get(token);
        if known.is_some_and(|it| it.acted) {
            return Ok(Some(true));
        }
        let is_over = known.is_none_or(|it| it.open <= 0)
            && !seen.pids.iter().any(|pid| *pid != self.pid && is_alive(*pid));
        // A process that has died meanwhile may have acted just before.
        drop(seen);
        let acted = || Ok(self.seen()?.calls.get(token).is_some_and(|it| it.acted));
        if is_over { acted().map(Some) } else { Ok(None) }
    }

    /// Reads all lines that are there now.
    fn seen(&self) -> io::Result<MutexGuard<'_, Seen>> {
        let mut guard = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = &mut *guard;
        while seen.reader.read_line(&mut seen.rest)? > 0 && seen.rest.ends_with('\n') {
            let mark = line::read::<Mark>(&seen.rest)?;
            seen.rest.clear();
            let Some(mark) = mark else { continue };
            seen.pids.insert(mark.pid);
            let is_own = mark.pid == self.pid;
            match mark.what {
                What::Begun(it) => {
                    let known = seen.calls.entry(it.token).or_default();
                    known.begun += 1;
                    known.open += i64::from(is_own);
                }
                What::Acted(it) => seen.calls.entry(it.token).or_default().acted = true,
                What::Left { token } => {
                    seen.calls.entry(token).or_default().open -= i64::from(is_own);
                }
                What::Started
                | What::Intended { .. }
                | What::Noted { .. }
                | What::Offered(_)
                | What::Accepted { .. }
                | What::Refused { .. } => {}
            }
        }
        Ok(guard)
    }
}

fn is_alive(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// Returns every line of the file in a folder; none where there is no file.
///
/// # Errors
/// When the file cannot be read, or holds another kind of line.
pub fn read(folder: &Path) -> io::Result<Vec<Mark>> {
    lines(&path(folder))
}

/// Returns the lines of a shared file; none where there is no file.
pub(crate) fn lines<T: for<'a> Deserialize<'a>>(path: &Path) -> io::Result<Vec<T>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().filter_map(|line| line::read(line).transpose()).collect()
}

fn path(folder: &Path) -> PathBuf {
    folder.join("marks")
}
