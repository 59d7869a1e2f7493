//! `approvals edit`: records other arguments for a call, with which the call runs once the application has checked
//! them.

use clap::{ArgMatches, Command};
use toolwright::approval::Statement;
use toolwright::journal::State;

use crate::operator::editing::{self, Editing};
use crate::operator::{Session, Stop};

pub(super) use editing::NAME;

pub(super) fn command() -> Command {
    editing::command("Let a call run with other arguments, which the application judges first")
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let editing = Editing {
        of: State::Pending,
        doing: "editing",
        instead: "Reject the call with a reason that says what to change",
        say: |call, new, by, at| {
            let digest = call.digest_with(&new);
            Statement::edit(call, new, digest, by, at)
        },
    };
    editing::run(matches, session, editing).await
}
