//! `dead-letters edit`: tries a letter again with other arguments, which the application judges.

use clap::{ArgMatches, Command};
use jiff::Timestamp;
use toolwright::approval::Statement;
use toolwright::journal::State;

use crate::operator::decide::{Decider, Saying};
use crate::operator::{Session, Stop, arguments, decide, ids, signing};

pub(super) const NAME: &str = "edit";

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("Try a letter again with other arguments, which the application judges first")
        .arg(ids::one_call())
        .args(arguments::options())
        .group(arguments::group())
        .args([decide::digest(), signing::option()])
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let decider = Decider::of(matches, session)?;
    let call = ids::found_one(matches, &*session.store).await?;
    let instead = "Requeue it as it is, or discard it and have it made anew";
    let new = arguments::given(matches, &call, instead)?;
    let statement = Statement::requeue_with(&call, new, decider.name(), Timestamp::now());
    let saying = Saying { call: &call, statement, of: State::Dead, doing: "requeueing" };
    decider.say(saying).await
}
