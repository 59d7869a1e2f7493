//! `calls`: shows the calls of a journal, and what happens to them.

mod trace;
mod watch;

use clap::{ArgMatches, Command};
use toolwright::journal::CallRecord;

use crate::operator::{Output, Session, Stop, filter, ids, session};
use crate::shown::call::{Call, DAMAGED};
use crate::shown::entry::EntryRow;
use crate::shown::family::in_families;
use crate::shown::table::Table;
use crate::shown::{printable, sheet, when};
use crate::{Exit, complain};

pub(crate) const NAME: &str = "calls";

/// The most characters of arguments in a list.
const LONGEST: usize = 60;

const AFTER_HELP: &str = "\
With --json, `list` and `show` write one call per line: {\"id\", \"state\", \"tool\", \"danger\", \"effect\", \
\"run\", \"turn\", \"index\", \"parent\": {\"call\", \"index\"}, \"awaits\", \"provider_id\", \"agent\", \"user\", \"arguments\", \"has_secrets\", \"repairs\", \
\"raw\", \"digest\", \"fingerprint\", \"idempotency_key\", \"trace\", \"version\", \"generation\", \"attempt\", \"owner\", \
\"epoch\", \"lease\", \"not_before\", \"ask\": {\"reason\", \"preview\", \"deadline\"}, \"decision\": \
{\"verdict\", \"by\", \"at\", \"key\"}, \"grant\", \"has_proposal\", \"failures\": [{\"attempt\", \
\"at\", \"failure\", \"kind\", \"message\", \"cause\"}], \"answer\": {\"is_error\", \"text\"}, \"result\": \
{\"is_error\", \"text\"}, \"delivered\", \"created\", \"updated\", \"damage\"}. Of a call that cannot be read, \
\"state\" is \"damaged\", \"damage\" says why, and all else but \"id\" is null.

`history` and `watch` write an entry a line: {\"call\", \"tool\", \
\"run\", \"number\", \"at\", \"who\", \"from\", \"event\", \"failure\", \"exhausted\", \"to\", \"generation\", \
\"digest\", \"why\", \"verdict\", \"key\"}; `trace` a step a line: {\"call\", \"input\", \"from\", \
\"decision\": [{\"event\", \"to\", \"why\"}], \"version\", \"generation\", \"at\", \"who\"}.

Exit code: 0 done; 1 the journal failed, or a call in it cannot be read; 2 the command line is wrong; 3 there is no such call.";

pub(crate) fn command() -> Command {
    Command::new(NAME)
        .about("Show the calls of a journal, their histories, and what happens to them")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(session::options())
        .subcommands([
            Command::new("list")
                .about("List calls, the earliest first, and those that a call makes below it")
                .arg(filter::state())
                .args(filter::options()),
            Command::new("show").about("Show the whole record of a call").arg(ids::one_call()),
            Command::new("history").about("Show what happened to a call").arg(ids::one_call()),
            trace::command(),
            watch::command(),
        ])
        .after_help(AFTER_HELP)
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    match matches.subcommand() {
        Some(("list", matches)) => {
            session::run(matches, async |session| list(matches, session).await)
        }
        Some(("show", matches)) => {
            session::run(matches, async |session| show(matches, session).await)
        }
        Some(("history", matches)) => {
            session::run(matches, async |session| history(matches, session).await)
        }
        Some((trace::NAME, matches)) => {
            session::run(matches, async |session| trace::run(matches, session).await)
        }
        Some((watch::NAME, matches)) => {
            session::run(matches, async |session| watch::run(matches, session).await)
        }
        _ => complain(Exit::Usage, "no such command"),
    }
}

async fn list(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let filter = filter::from_options(matches, filter::states(matches));
    let rows = filter::rows(matches, session, &filter, |_| true).await?;
    let mut table = Table::new(["ID", "STATE", "TOOL", "RUN", "MADE", "ARGUMENTS"]);
    for (depth, row) in in_families(&rows) {
        match (row, session.output) {
            (Ok(call), Output::Text) => {
                let made = when::away(call.created, session.now);
                let arguments = printable::shorten(&call.shown, LONGEST);
                let (id, run) = (call.id.to_string(), &call.place.run);
                let tool = format!("{}{}", "  ".repeat(depth), call.tool);
                table.row([&id, call.state.name(), &tool, run, &made, &arguments]);
            }
            (Err(damaged), Output::Text) => {
                table.row([&damaged.id.to_string(), DAMAGED, "-", "-", "-", "(cannot be read)"]);
            }
            (Ok(call), json) => json.object(&Call::of(call))?,
            (Err(damaged), json) => json.object(&Call::damaged_row(damaged))?,
        }
    }
    if session.output == Output::Text {
        session.output.text(table)?;
    }
    let damaged = rows.iter().filter_map(|row| row.as_ref().err());
    damaged.for_each(|damaged| session.leave_out(damaged, "it stops no other call"));
    Ok(())
}

/// Writes a list of calls: one line per call for programs, a table for people.
pub(crate) fn write(
    session: &Session,
    calls: &[CallRecord],
    table: impl FnOnce() -> Table,
) -> Result<(), Stop> {
    match session.output {
        Output::Text => session.output.text(table()),
        json => calls.iter().try_for_each(|call| json.object(&Call::of(call))),
    }
}

async fn show(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let call = ids::find_one(matches, &*session.store).await?;
    session.output.write(&Call::of(&call), || {
        sheet::request(&call, session.now) + &sheet::standing(&call, session.now)
    })
}

async fn history(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let call = ids::find_one(matches, &*session.store).await?;
    for entry in session.store.history(call.id).await? {
        session.output.write(&EntryRow::of(&call, &entry), || EntryRow::words(&entry) + "\n")?;
    }
    Ok(())
}
