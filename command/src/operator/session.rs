//! The session of a command: the open journal, and what the command needs to work on it.

use std::cell::Cell;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches};
use jiff::Timestamp;
use toolwright::journal::{DamagedCall, Store};

use super::{Output, Stop, journal};
use crate::shown::printable;
use crate::{Exit, complain, tell};

const JSON: &str = "json";

/// The store that a command works on, and how the command prints.
pub(crate) struct Session {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) output: Output,
    /// When the command began; times are shown relative to it.
    pub(crate) now: Timestamp,
    /// Whether the command left out a call that cannot be read; its exit code says so.
    pub(crate) left_out: Cell<bool>,
}

impl Session {
    /// Warns of a call that cannot be read; `here` says what that means for the command.
    pub(crate) fn leave_out(&self, damaged: &DamagedCall, here: &str) {
        self.left_out.set(true);
        tell("warning", printable::line(&format!("{damaged}; {here}")));
    }
}

/// Declares the options of every command on a journal.
pub(crate) fn options() -> [Arg; 2] {
    [journal::option(), json()]
}

pub(crate) fn json() -> Arg {
    Arg::new(JSON)
        .long("json")
        .action(ArgAction::SetTrue)
        .global(true)
        .display_order(102)
        .help("Write one JSON object per line instead of text for people")
}

pub(crate) fn output(matches: &ArgMatches) -> Output {
    if matches.get_flag(JSON) { Output::Json } else { Output::Text }
}

/// Opens the journal, runs the command, and reports why it ended early.
pub(crate) fn run(
    matches: &ArgMatches,
    work: impl AsyncFnOnce(&Session) -> Result<(), Stop>,
) -> Exit {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return complain(
                Exit::Failed,
                format!("the system gives no clock to wait by: {error}"),
            );
        }
    };
    let done = runtime.block_on(async {
        let store = journal::open(matches).await?;
        let output = output(matches);
        let session = Session { store, output, now: Timestamp::now(), left_out: Cell::default() };
        work(&session).await?;
        match session.left_out.get() {
            true => Err(Stop::after(Exit::Failed)),
            false => Ok(()),
        }
    });
    done.map_or_else(Stop::report, |()| Exit::Success)
}
