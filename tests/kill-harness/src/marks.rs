//! The outside world: a file to which everybody adds lines, each on the disk before they go on.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::line;

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// When.
    pub at: Timestamp,
    /// Which life of the application.
    pub life: u32,
    /// Its process.
    pub pid: i32,
    /// What.
    pub what: What,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A process begins.
    Started,
    /// The turn of a run is about to be handed in.
    Intended {
        /// The run.
        run: u64,
    },
    /// A tool was begun.
    Begun(Attempt),
    /// A tool acted: what it did cannot be taken back.
    Acted(Attempt),
    /// A tool ended, with a result, an error or a panic, or was dropped.
    Left {
        /// The call.
        token: String,
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

/// What a tool knows of the attempt it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The call, as the outside world knows it.
    pub token: String,
    /// The call, as the journal knows it.
    pub call: String,
    /// The key that stays the same.
    pub key: String,
    /// The argument that a person may change.
    pub amount: u32,
}

/// The file, as one life of the application adds to it.
pub struct Outside {
    file: File,
    /// Whether a line is on the disk before anybody goes on.
    is_sure: bool,
    life: u32,
    pid: i32,
    seen: Mutex<Seen>,
}

/// What was read of the file so far, which only grows.
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
    /// Attempts of this process that are not over.
    open: i64,
    acted: bool,
}

impl Outside {
    /// The file in a folder, made where there is none; `is_sure` where whoever adds a line may be killed.
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

    /// Adds a line.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn add(&self, what: What) -> io::Result<()> {
        let Self { life, pid, .. } = *self;
        let mark = Mark { at: Timestamp::now(), life, pid, what };
        (&self.file).write_all(line::of(&mark)?.as_bytes())?;
        if self.is_sure { self.file.sync_data() } else { Ok(()) }
    }

    /// Notes that a tool begins; how often it was begun before.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn begin(&self, attempt: Attempt) -> io::Result<u32> {
        let token = attempt.token.clone();
        let before = self.seen()?.calls.get(&token).map_or(0, |it| it.begun);
        self.add(What::Begun(attempt))?;
        Ok(before)
    }

    /// Whether a call acted; nothing while somebody may still be about to: another process that is alive, perhaps
    /// stopped before it began.
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
        // Who has died meanwhile may have acted just before.
        drop(seen);
        let acted = || Ok(self.seen()?.calls.get(token).is_some_and(|it| it.acted));
        if is_over { acted().map(Some) } else { Ok(None) }
    }

    /// All that is there now.
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
                What::Started | What::Intended { .. } | What::Noted { .. } => {}
            }
        }
        Ok(guard)
    }
}

fn is_alive(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// Every line of the file in a folder; none where there is no file.
///
/// # Errors
/// When it cannot be read, or a line of it is none of ours.
pub fn read(folder: &Path) -> io::Result<Vec<Mark>> {
    lines(&path(folder))
}

/// The lines of a file that many add to; none where there is no file.
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
