//! Kills an application with a journal, at named points and at random instants, starts it again, and compares what
//! happened outside with the journal.
//!
//! - An *application* makes turns of calls to tools of every effect; each tool leaves marks outside ([`marks`]). A
//!   *life* is one process of it, from its start to its end, which mostly is a kill ([`life`]).
//! - A store around the one under test kills the process at commits ([`watched`]). Another one can break a promise on
//!   purpose ([`broken`]).
//! - A *supplier* carries out the calls of external tools, and supplies each result: once, twice, or two at the same
//!   time, and again after a restart ([`supplier`]).
//! - A *pipe* is a call whose tool stores the answer of another call in a context store, a second file beside the
//!   journal ([`texts`]).
//! - A *meddler* damages rows between lives and restores them at the end, and adds a foreign trigger to the journal,
//!   before a life and during one ([`meddle`]).
//! - A *world* is one journal and its lives ([`world`]). At the end, one more life settles what is left, and
//!   [`check`] checks every call.
//!
//! ```text
//!  harness ── worlds beside each other ── lives: killed, killed, …, settles ──► check: marks, journal, promises
//!                                           │
//!                                application ► watched ► (broken) ► the store under test
//! ```
//!
//! # A store of your own
//!
//! Implement [`Opens`] for your store, and pass it to [`main`]; the program takes the options of this one. Each world
//! has a folder. A store that is opened twice in one folder, by two processes too, must be the same journal.
//!
//! ```no_run
//! use std::path::Path;
//! use std::process::ExitCode;
//! use std::sync::Arc;
//!
//! use futures::future::BoxFuture;
//! use kill_harness::Opens;
//! use toolwright::journal::{SqliteStore, Store, StoreError};
//!
//! struct Mine;
//!
//! impl Opens for Mine {
//!     fn open(&self, folder: &Path) -> BoxFuture<'static, Result<Arc<dyn Store>, StoreError>> {
//!         let path = folder.join("calls.db");
//!         Box::pin(async move { Ok(Arc::new(SqliteStore::open(path).await?) as Arc<dyn Store>) })
//!     }
//! }
//!
//! fn main() -> ExitCode {
//!     kill_harness::main(&Mine)
//! }
//! ```

pub mod agent;
mod aim;
pub mod application;
pub mod board;
pub mod broken;
pub mod check;
pub mod deadly;
pub mod evidence;
pub mod harness;
pub mod life;
mod line;
pub mod marks;
pub mod meddle;
mod meddling;
mod options;
pub mod person;
pub mod plan;
pub mod point;
pub mod script;
mod settle;
mod sqlite;
pub mod supplier;
pub mod texts;
pub mod tools;
pub mod watched;
pub mod world;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright::journal::{Store, StoreError};

pub use meddle::Meddles;
pub use sqlite::Sqlite;

/// Opens the store under test.
pub trait Opens: Send + Sync {
    /// Opens the journal in a folder, and creates it where there is none.
    fn open(&self, folder: &Path) -> BoxFuture<'static, Result<Arc<dyn Store>, StoreError>>;

    /// Writes into the store behind the application's back; `None` if that is not tested.
    fn meddler(&self) -> Option<&dyn Meddles> {
        None
    }
}

/// The exit code if a life failed or the command line is wrong.
const FAILED: u8 = 2;

/// The exit code of a life that a signal ended and that released calls which had not finished.
pub const RELEASED: u8 = 75;

/// Runs the program: it reads the command line, kills, and prints. It starts itself for each life.
///
/// Exit code: 0 no violation (with `--break`: the fault was found), 1 otherwise, 2 the trial failed.
#[must_use]
pub fn main(store: &dyn Opens) -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let ended = match (arguments.next().as_deref(), arguments.next()) {
        (Some("life"), Some(life)) => lived(&life, store),
        (Some("agent-life"), Some(life)) => agent_lived(&life, store),
        (Some(board::ARGUMENT), Some(life)) => board_lived(&life),
        _ => options::Options::of_command_line().and_then(|options| options.run(store)),
    };
    ended.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(FAILED)
    })
}

/// Builds the runtime of a life.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

fn agent_lived(life: &str, store: &dyn Opens) -> anyhow::Result<ExitCode> {
    let life = serde_json::from_str(life)?;
    let runtime = runtime()?;
    runtime.block_on(agent::live(life, store))?;
    // What still runs ends with the process.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

fn board_lived(life: &str) -> anyhow::Result<ExitCode> {
    let life = serde_json::from_str(life)?;
    let runtime = runtime()?;
    runtime.block_on(board::live(life))?;
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

fn lived(life: &str, store: &dyn Opens) -> anyhow::Result<ExitCode> {
    let life = serde_json::from_str(life)?;
    let runtime = runtime()?;
    let ended = runtime.block_on(life::live(life, store))?;
    Ok(match ended {
        life::Ended::Finished => ExitCode::SUCCESS,
        life::Ended::Released => ExitCode::from(RELEASED),
    })
}
