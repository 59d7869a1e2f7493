//! `approvals edit`: other arguments for a call, which the application judges.

use clap::{ArgMatches, Command};
use jiff::Timestamp;
use toolwright::approval::Statement;
use toolwright::arguments::digest;
use toolwright::journal::State;

use crate::operator::decide::{Decider, Saying};
use crate::operator::{Session, Stop, arguments, decide, ids, signing};

pub(super) const NAME: &str = "edit";

pub(super) fn command() -> Command {
    Command::new(NAME)
        .about("Let a call run with other arguments, which the application judges first")
        .arg(ids::one_call())
        .args(arguments::options())
        .group(arguments::group())
        .args([decide::digest(), signing::option()])
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let decider = Decider::of(matches, session)?;
    let call = ids::found_one(matches, &*session.store).await?;
    let instead = "Reject the call with a reason that says what to change";
    let new = arguments::given(matches, &call, instead)?;
    let principal = call.requester.user.as_deref().unwrap_or("");
    let digest = digest(&call.tool, &call.fingerprint, &new, principal, None);
    let statement = Statement::edit(&call, new, digest, decider.name(), Timestamp::now());
    let saying = Saying { call: &call, statement, of: State::Pending, doing: "editing" };
    decider.say(saying).await
}
