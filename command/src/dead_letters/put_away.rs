//! `dead-letters discard` and `dead-letters purge`: close dead letters. `discard` keeps their records; `purge` also
//! deletes their arguments.

use clap::{Arg, ArgMatches, Command};
use toolwright::approval::Statement;
use toolwright::journal::State;

use super::which::{self, MeantCalls};
use crate::operator::decide::Decider;
use crate::operator::each::Each;
use crate::operator::{Session, Stop, decide, ids, signing};

pub(super) const DISCARD: &str = "discard";
pub(super) const PURGE: &str = "purge";

const NOTE: &str = "note";

fn note() -> Arg {
    Arg::new(NOTE).long(NOTE).value_name("TEXT").help("Why, for other operators")
}

pub(super) fn discard_command() -> Command {
    Command::new(DISCARD).about("Close dead letters, and keep their records").args([
        ids::calls(),
        note(),
        decide::digest(),
        signing::option(),
    ])
}

pub(super) fn purge_command() -> Command {
    Command::new(PURGE)
        .about("Close old dead letters, and delete their arguments; answers and histories stay")
        .args(which::filters().map(|option| {
            match option.get_id() == which::older_than().get_id() {
                true => option.required(true),
                false => option,
            }
        }))
        .args(which::scope())
        .args([note(), signing::option()])
}

pub(super) async fn discard(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let decider = Decider::of(matches, session)?;
    let calls = ids::find_all(matches, &*session.store).await?;
    let note = matches.get_one::<String>(NOTE);
    let each =
        Each { calls: &calls, of: State::Dead, doing: "discarding", pause: None, in_order: false };
    each.decide(&decider, |call, by, now| Statement::discard(call, note.cloned(), by, now)).await
}

pub(super) async fn purge(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let dead = match which::find_meant(matches, session).await? {
        MeantCalls::List(dead) => return super::write(session, &dead),
        MeantCalls::Do(dead) => dead,
    };
    let decider = Decider::of(matches, session)?;
    let note = matches.get_one::<String>(NOTE);
    let each =
        Each { calls: &dead, of: State::Dead, doing: "purging", pause: None, in_order: false };
    each.decide(&decider, |call, by, now| Statement::forget(call, note.cloned(), by, now)).await
}
