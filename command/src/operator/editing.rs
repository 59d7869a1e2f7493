//! New arguments for a call, which the application judges first: what every command that gives some has.

use clap::{ArgMatches, Command};
use jiff::Timestamp;
use toolwright::approval::Statement;
use toolwright::journal::{CallRecord, State};

use super::decide::{Decider, Saying};
use super::{Session, Stop, arguments, decide, ids, signing};

pub(crate) const NAME: &str = "edit";

/// What is edited, and how.
pub(crate) struct Editing {
    /// The state of the call.
    pub(crate) of: State,
    /// In a word, such as `editing`.
    pub(crate) doing: &'static str,
    /// What else can be done where it cannot be edited.
    pub(crate) instead: &'static str,
    /// What is signed of the call, with its new arguments, by whom and when.
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
    let saying = Saying { call: &call, statement, of: editing.of, doing: editing.doing };
    decider.say(saying).await
}
