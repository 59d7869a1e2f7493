//! `dead-letters edit`: requeues a dead letter with other arguments, which the application checks before the call runs.

use clap::{ArgMatches, Command};
use toolwright::approval::Statement;
use toolwright::journal::State;

use crate::operator::editing::{self, Editing};
use crate::operator::{Session, Stop};

pub(super) use editing::NAME;

pub(super) fn command() -> Command {
    editing::command(
        "Run a dead letter again with other arguments, which the application judges first",
    )
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let editing = Editing {
        of: State::Dead,
        doing: "requeuing",
        instead: "Requeue it as it is, or discard it and have it made anew",
        say: |call, new, by, at| Statement::requeue_with(call, new, by, at),
    };
    editing::run(matches, session, editing).await
}
