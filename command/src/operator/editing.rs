//! Signs new arguments for a call. The application checks them before the call runs with them. Shared by all commands
//! named `edit`.

use clap::{ArgMatches, Command};
use jiff::Timestamp;
use toolwright::approval::Statement;
use toolwright::journal::{CallRecord, State};

use super::decide::{CallDecision, Decider};
use super::{Session, Stop, arguments, decide, ids, signing};

pub(crate) const NAME: &str = "edit";

/// The settings of a command that edits a call.
pub(crate) struct Editing {
    /// The state that the call must have for this edit.
    pub(crate) of: State,
    /// The verb that is printed before the call, such as `editing`.
    pub(crate) doing: &'static str,
    /// What an operator can do instead if the call cannot be edited; the error message gives this advice.
    pub(crate) instead: &'static str,
    /// Makes the statement to sign, from the call, its new arguments, the person's name and the present time.
    pub(crate) say: fn(&CallRecord, String, &str, Timestamp) -> Statement,
}

pub(crate) fn command(about: &'static str) -> Command {
    Command::new(NAME)
        .about(about)
        .arg(ids::one_call())
        .args(arguments::options())
        .group(arguments::group())
        .args([decide::digest(), signing::option()])
}

pub(crate) async fn run(
    matches: &ArgMatches,
    session: &Session,
    editing: Editing,
) -> Result<(), Stop> {
    let decider = Decider::of(matches, session)?;
    let call = ids::find_one(matches, &*session.store).await?;
    let new = arguments::from_options(matches, &call, editing.instead)?;
    let statement = (editing.say)(&call, new, decider.name(), Timestamp::now());
    let decision = CallDecision { call: &call, statement, of: editing.of, doing: editing.doing };
    decider.decide(decision).await
}
