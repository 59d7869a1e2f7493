//! Lives that a test starts, stops, and looks at.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kill_harness::check::Checked;
use kill_harness::life::Life;
use kill_harness::marks::{self, Mark, What};
use kill_harness::script::{Manner, Run};
use kill_harness::{Opens as _, Sqlite, world};
use rustix::process::{Pid, Signal, kill_process};
use toolwright::journal::{CallRecord, DocumentWrite, Filter, Page, State, Store, Transaction};

const PATIENCE: Duration = Duration::from_secs(60);

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_kill-harness");

/// A process that is not left behind when a test fails.
pub struct Process(pub Child);

impl Process {
    pub fn start(life: &Life) -> Self {
        Self::start_with(life, &[])
    }

    pub fn start_with(life: &Life, variables: &[(&str, &Path)]) -> Self {
        let mut command = life.command(Path::new(PROGRAM)).unwrap();
        command.envs(variables.iter().copied());
        Self::of(command, &life.folder)
    }

    /// The process of a command, whose errors go to a file in a folder.
    pub fn of(mut command: Command, folder: &Path) -> Self {
        let errors = folder.join("errors");
        let errors = std::fs::OpenOptions::new().append(true).create(true).open(errors).unwrap();
        Self(command.stdout(Stdio::null()).stderr(errors).spawn().unwrap())
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    #[track_caller]
    pub fn end(mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Stops a process, but not in the middle of a write: then nobody could write before it goes on.
pub fn stopped_between_writes(process: &Process, folder: &Path) {
    until("it is stopped between two writes", || {
        process.signal(Signal::STOP);
        let written = with_store(folder, |store| async move {
            let key = Timestamp::now().to_string();
            let text = Some("is it free?".to_owned());
            let documents = vec![DocumentWrite { key, expects: None, text }];
            store
                .commit(Transaction { documents, ..Transaction::default() }, Timestamp::now())
                .await
        });
        if written.is_err() {
            process.signal(Signal::CONT);
            sleep(Duration::from_millis(200));
        }
        written.is_ok()
    });
}

/// A life whose runs all call a slow tool, and which is not killed.
pub fn slow(folder: &Path) -> Life {
    let kill = Some(("before-renewed".to_owned(), u32::MAX));
    Life { kill, works: 4_000, runs: 4, ..Life::new(folder, 11) }
}

/// The calls of slow tools that were begun and are not over.
pub fn slow_calls(life: &Life) -> Vec<String> {
    let mut under_way = Vec::new();
    for mark in marks::read(&life.folder).unwrap() {
        match mark.what {
            What::Begun(it) if manner(life.seed, &it.token) == Manner::Slow => {
                under_way.push(it.token);
            }
            What::Left { token } => under_way.retain(|it| *it != token),
            _ => {}
        }
    }
    under_way
}

fn manner(seed: u64, token: &str) -> Manner {
    let (run, _) = token.trim_start_matches('r').split_once('-').unwrap();
    Run::of(seed, run.parse().unwrap()).call(token).unwrap().manner
}

#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(5));
    }
}

pub fn marks_of(life: &Life) -> Vec<Mark> {
    marks::read(&life.folder).unwrap()
}

/// What the journal of a folder holds.
pub fn records(folder: &Path) -> Vec<CallRecord> {
    with_store(folder, |store| async move {
        store.list(&Filter::default(), Page::first(10_000)).await.unwrap().calls
    })
}

pub fn in_state(folder: &Path, state: State) -> Vec<CallRecord> {
    records(folder).into_iter().filter(|it| it.state == state).collect()
}

pub fn with_store<F: Future>(folder: &Path, asks: impl FnOnce(Arc<dyn Store>) -> F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { asks(Sqlite.open(folder).await.unwrap()).await })
}

/// What is left is settled, and looked at.
#[track_caller]
pub fn settled(last: &Life) -> Checked {
    let settling = last.settling();
    let status = Process::start(&settling).end();
    assert!(status.success(), "{status}, see {}", last.folder.join("errors").display());
    let checked = world::checked(&settling, &Sqlite).unwrap();
    assert!(checked.findings.is_empty(), "{:#?}", checked.findings);
    checked
}
