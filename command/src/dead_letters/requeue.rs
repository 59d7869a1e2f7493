//! `dead-letters requeue`: runs dead letters again, after the application has checked them.

use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use toolwright::approval::Statement;
use toolwright::journal::State;

use super::which::{self, MeantCalls};
use crate::operator::decide::Decider;
use crate::operator::each::Each;
use crate::operator::{Session, Stop, decide, duration, signing};

pub(super) const NAME: &str = "requeue";

const NEW_KEY: &str = "new-key";
const EVERY: &str = "every";

pub(super) fn command() -> Command {
    let every = Arg::new(EVERY)
        .long(EVERY)
        .value_name("DURATION")
        .value_parser(duration::to_wait)
        .help("How long to wait between two dead letters, such as 500ms");
    let new_key = Arg::new(NEW_KEY).long(NEW_KEY).action(ArgAction::SetTrue).help(
        "Use a new idempotency key, so that a service that has carried the call out does so again",
    );
    Command::new(NAME)
        .about("Run dead letters again, unchanged")
        .args(which::filters_or_ids())
        .args(which::scope())
        .args([every, new_key, decide::unseen(), signing::option()])
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let dead = match which::find_meant(matches, session).await? {
        MeantCalls::List(dead) => return super::write(session, &dead),
        MeantCalls::Do(dead) => dead,
    };
    let new_key = matches.get_flag(NEW_KEY);
    let pause = matches.get_one::<Duration>(EVERY).copied();
    let decider = Decider::of(matches, session)?;
    let each = Each { calls: &dead, of: State::Dead, doing: "requeuing", pause, in_order: false };
    each.decide(&decider, |call, by, now| Statement::requeue(call, new_key, by, now)).await
}
