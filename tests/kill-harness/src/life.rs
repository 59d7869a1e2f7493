//! One life of the application: a process from its start to its end, which mostly is a kill.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use toolwright::journal::{Journal, Store};
use toolwright::{Executor, OnNoApprover};
use toolwright_toolbox::ContextStore;

use crate::Opens;
use crate::application::Application;
use crate::broken::{Break, Broken};
use crate::deadly::Deadly;
use crate::marks::Outside;
use crate::person::{self, Person};
use crate::settle::settle;
use crate::supplier;
use crate::texts;
use crate::tools::{World, registry};
use crate::watched::Watched;

/// The parameters of a life, as JSON on its command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Life {
    /// The folder with journal and marks.
    pub folder: PathBuf,
    /// The number of the life in this folder.
    pub number: u32,
    /// The seed, which decides what the runs call.
    pub seed: u64,
    /// The point at which the life kills itself, and at which of its visits to that point, counted from 1.
    pub kill: Option<(String, u32)>,
    /// Whether the life settles what is left, and is not killed.
    pub settles: bool,
    /// The promise that the store of the life breaks.
    pub breaks: Option<Break>,
    /// Whether the approver is asked in the process itself.
    pub asks_here: bool,
    /// Whether reads are journalled too.
    pub keeps_reads: bool,
    /// The lease of the executor, in milliseconds.
    pub lease: u64,
    /// How long the life begins new runs, in milliseconds.
    pub works: u64,
    /// How many runs the life begins.
    pub runs: usize,
    /// Whether the clock of the life is ahead, by the milliseconds in the file `clock`. The file may change at any
    /// time.
    pub clock_jumps: bool,
    /// How long the life waits for running calls when a signal ends it, in milliseconds.
    pub grace: u64,
}

impl Life {
    /// Returns the first life in a folder, which is not killed.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, seed: u64) -> Self {
        Self {
            folder: folder.into(),
            number: 1,
            seed,
            kill: None,
            settles: false,
            breaks: None,
            asks_here: false,
            keeps_reads: false,
            lease: 300,
            works: 800,
            runs: 20,
            clock_jumps: false,
            grace: 5_000,
        }
    }

    /// Returns the next life, which settles what is left.
    #[must_use]
    pub fn settling(&self) -> Self {
        let number = self.number + 1;
        Self { number, kill: None, settles: true, breaks: None, ..self.clone() }
    }

    /// Returns the command that starts the life: this program, which calls [`main`](crate::main).
    ///
    /// # Errors
    /// When the parameters cannot be written as JSON.
    pub fn command(&self, program: &Path) -> anyhow::Result<Command> {
        let mut command = Command::new(program);
        command.arg("life").arg(serde_json::to_string(self)?).stdin(Stdio::null());
        // Tools panic on purpose, and a backtrace would take longer than a life.
        command.env("RUST_BACKTRACE", "0");
        Ok(command)
    }
}

/// How a life ended that was not killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All running calls have finished.
    Finished,
    /// A signal ended the life, and it released calls that did not finish in time.
    Released,
}

/// Runs the application, until it is killed or done.
///
/// # Errors
/// When journal or marks cannot be opened, or the application cannot be built.
pub async fn live(life: Life, store: &dyn Opens) -> anyhow::Result<Ended> {
    let deadly = match &life.kill {
        Some((point, nth)) => Deadly::at(point.parse().map_err(anyhow::Error::msg)?, *nth),
        None => Deadly::default(),
    };
    let store = store.open(&life.folder).await?;
    let store: Arc<dyn Store> = match life.breaks {
        Some(promise) => Arc::new(Broken::new(store, promise)),
        None => store,
    };
    let watched = Watched::new(store, deadly.clone(), &life.folder, life.number)?;
    let store: Arc<dyn Store> = Arc::new(watched);
    let outside = Outside::open(&life.folder, life.number, !life.settles).context("the marks")?;
    let lease = Duration::from_millis(life.lease);
    let world = Arc::new(World { outside, deadly, slow: lease * 3 / 2 });
    let mut builder = Executor::builder(registry()?).unrestricted().service_arc(Arc::clone(&world));
    builder = builder.service(ContextStore::open(texts::file(&life.folder))?);
    let mut journal =
        Journal::shared(Arc::clone(&store)).lease(lease).approval_expires_after(lease);
    // A token of an earlier life counts as well.
    journal = journal.hand_over_key(supplier::key()?);
    if life.asks_here {
        builder = builder.approver(person::key()?, Person);
    } else {
        journal = journal.trust("ada", person::key()?.public()).on_no_approver(OnNoApprover::Park);
    }
    if life.clock_jumps {
        let path = life.folder.join("clock");
        journal = journal.clock(move || Timestamp::now() + ahead(&path));
    }
    if life.keeps_reads {
        journal = journal.record_reads();
    }
    let builder = builder.journal(journal);
    let application = Arc::new(Application::new(life, builder.build()?, store, world)?);
    if application.life.settles {
        settle(&application).await?;
        return Ok(Ended::Finished);
    }
    application.live().await
}

/// Returns by how much the clock is ahead, as the file says now.
fn ahead(path: &Path) -> SignedDuration {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    SignedDuration::from_millis(text.trim().parse().unwrap_or_default())
}
