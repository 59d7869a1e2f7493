//! The log without an executor: what is recorded, what an undo decides, and processes that are killed at each step.

mod bounded;
mod killed;
mod planned;
mod recorded;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use toolwright::{ToolContext, ToolError};

use super::log::{ChangeLimits, ChangeLog};
use super::plan::WantedChanges;
use super::record::CallFacts;
use super::rows::{Change, of_file};
use crate::Workspace;
use crate::footprint::WrittenFiles;
use crate::workspace::Name;

/// A log beside the folder that it is about.
struct Place {
    around: TempDir,
    log: ChangeLog,
}

impl Place {
    fn new() -> Self {
        Self::with(ChangeLimits::default())
    }

    fn with(limits: ChangeLimits) -> Self {
        let around = TempDir::new().unwrap();
        fs::create_dir(around.path().join("work")).unwrap();
        let log = open(around.path(), limits);
        Self { around, log }
    }

    /// What another process sees.
    fn reopen(&mut self) {
        self.log = open(self.around.path(), self.log.0.limits);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.around.path().join("work").join(name)
    }

    /// Content and mode of a file; `None` if there is none.
    fn file(&self, name: &str) -> Option<(String, u32)> {
        let path = self.path(name);
        let content = fs::read_to_string(&path).ok()?;
        Some((content, fs::metadata(path).unwrap().permissions().mode() & 0o7777))
    }

    fn put(&self, name: &str, content: &str, mode: u32) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A call that does something to a file.
    fn call(&self, call: &CallFacts, name: &str, act: impl FnOnce(&Workspace)) {
        let begun = self.log.begin(call, &written(name), NOW).unwrap();
        act(&self.log.0.workspace);
        self.log.finish(begun).unwrap();
        self.log.prune(NOW);
    }

    /// A call that writes a file.
    fn write(&self, turn: u64, name: &str, content: &str) -> CallFacts {
        let call = call(turn, "write_file");
        self.repeat(&call, name, content);
        call
    }

    /// A call that writes a file, perhaps again.
    fn repeat(&self, call: &CallFacts, name: &str, content: &str) {
        self.call(call, name, |workspace| {
            workspace.write(name, content.as_bytes()).unwrap();
        });
    }

    fn undo(&self, name: &str, wanted: WantedChanges<'_>) -> Result<String, ToolError> {
        let undone = self.log.undo(&call(9, "undo_file"), &named(name), wanted, NOW);
        undone.map(|it| it.words)
    }

    fn changes(&self, name: &str) -> Vec<Change> {
        of_file(&self.log.connection(), &named(name)).unwrap()
    }

    fn effective(&self, name: &str) -> usize {
        self.changes(name).iter().filter(|it| it.is_effective()).count()
    }
}

/// Some time.
const NOW: i64 = 1_700_000_000_000;

fn open(around: &Path, limits: ChangeLimits) -> ChangeLog {
    let workspace = Arc::new(Workspace::open(around.join("work")).unwrap());
    ChangeLog::open_with(around.join("changes.db"), workspace, limits).unwrap()
}

fn call(turn: u64, tool: &str) -> CallFacts {
    CallFacts {
        id: ToolContext::test().call_id(),
        run: Some("run".to_owned()),
        turn: Some(turn),
        place: Some(0),
        tool: tool.to_owned(),
    }
}

fn named(name: &str) -> Name {
    Name::parse(name).unwrap()
}

fn written(name: &str) -> WrittenFiles {
    WrittenFiles { names: vec![named(name)], unnamed: None }
}
