//! The outside world: a file to which everybody adds lines, each on the disk before they go on.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

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
    path: PathBuf,
    file: File,
    life: u32,
    pid: i32,
    begun: Mutex<HashMap<String, u32>>,
}

impl Outside {
    /// The file in a folder, made where there is none.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(folder: &Path, life: u32) -> io::Result<Self> {
        let path = path(folder);
        let file = OpenOptions::new().append(true).create(true).open(&path)?;
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let mut begun = HashMap::new();
        for mark in read(folder)? {
            if let What::Begun(attempt) = mark.what {
                *begun.entry(attempt.token).or_default() += 1;
            }
        }
        let outside = Self { path, file, life, pid, begun: Mutex::new(begun) };
        outside.add(What::Started)?;
        Ok(outside)
    }

    /// Adds a line, and returns when it is on the disk.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn add(&self, what: What) -> io::Result<()> {
        let Self { life, pid, .. } = *self;
        let mark = Mark { at: Timestamp::now(), life, pid, what };
        let mut line = serde_json::to_string(&mark)?;
        line.push('\n');
        (&self.file).write_all(line.as_bytes())?;
        self.file.sync_data()
    }

    /// Notes that a tool begins; how often it was begun before, as far as this life knows.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn begin(&self, attempt: Attempt) -> io::Result<u32> {
        let token = attempt.token.clone();
        self.add(What::Begun(attempt))?;
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let times = begun.entry(token).or_default();
        *times += 1;
        Ok(*times - 1)
    }

    /// Whether a call acted; nothing while somebody may still be about to: another process that is alive, perhaps
    /// stopped before it began.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn has_acted(&self, token: &str) -> io::Result<Option<bool>> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut others = HashSet::new();
        let mut open = 0_i64;
        for mark in read(folder)? {
            match mark.what {
                What::Acted(it) if it.token == token => return Ok(Some(true)),
                _ if mark.pid != self.pid => {
                    others.insert(mark.pid);
                }
                What::Begun(it) if it.token == token => open += 1,
                What::Left { token: it } if it == token => open -= 1,
                _ => {}
            }
        }
        let is_over = open <= 0 && !others.into_iter().any(is_alive);
        Ok(is_over.then_some(false))
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
    whole.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn path(folder: &Path) -> PathBuf {
    folder.join("marks")
}
