//! `dead-letters`: calls that failed for good, and what operators can do about them.

mod edit;
mod put_away;
mod requeue;
mod stats;
mod which;

use clap::{ArgMatches, Command};
use toolwright::journal::{CallRecord, State};

use crate::operator::{Output, Session, Stop, filter, ids, session};
use crate::shown::dead_letter::{DeadLetter, kind};
use crate::shown::table::Table;
use crate::shown::{printable, sheet, when};
use crate::{Exit, calls, complain, tell};

pub(crate) const NAME: &str = "dead-letters";

/// How many characters of a call's arguments a list shows.
const LONGEST: usize = 60;

const AFTER_HELP: &str = "\
A dead letter is a call that failed for good; its run has been answered. Nothing runs it again by itself. A requeue \
is signed with your key, about exactly the call that was read; the application's worker judges it like any call, so \
that it may ask for an approval, and what comes of it is its `result`, never a second answer. What cannot be done is \
put back, and `calls history` says why.

With --json, `list` and --dry-run write one call per line, as `toolwright calls --help` says; `show` and `export` write \
the same with \"kind\" and \"history\": [what `toolwright calls history` writes]; each decision writes {\"call\", \
\"verdict\", \"by\", \"at\", \"state\", \"grant\", \"repeated\"}, the verdict is `requeued`, `discarded` or \
`forgotten`; `stats` writes {\"tool\", \"kind\", \"count\", \"ages\": {\"hour\", \"day\", \"week\", \"older\"}, \
\"oldest\", \"newest\"}.

Exit code: 0 done, or recorded already; 1 the journal or a file failed; 2 the command line is wrong, or what it \
asks for cannot be done; 3 there is no such call, and nothing was done; 4 another person decided, or the call \
changed; 5 the key cannot be used. With several calls: that of the first that failed.";

pub(crate) fn command() -> Command {
    Command::new(NAME)
        .about("Show the calls that failed for good, and requeue or discard them")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(session::options())
        .subcommands([
            Command::new("list")
                .about("List them, the earliest first")
                .args(which::filters())
                .args(filter::paging()),
            Command::new("show")
                .about("Show the whole record of one, with its attempts and its history")
                .arg(ids::one_call()),
            requeue::command(),
            edit::command(),
            put_away::discard_command(),
            put_away::purge_command(),
            Command::new("export")
                .about("Write the whole records, one JSON object per line, secrets masked")
                .args(which::filters()),
            Command::new("stats")
                .about("Count them by tool, by kind of error, and by age")
                .args(which::filters()),
        ])
        .after_help(AFTER_HELP)
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let Some((name, matches)) = matches.subcommand() else {
        return complain(Exit::Usage, "no such command");
    };
    session::run(matches, async |session| match name {
        "list" => write(session, &which::list(matches, session).await?),
        "show" => show(matches, session).await,
        requeue::NAME => requeue::run(matches, session).await,
        edit::NAME => edit::run(matches, session).await,
        put_away::DISCARD => put_away::discard(matches, session).await,
        put_away::PURGE => put_away::purge(matches, session).await,
        "export" => export(matches, session).await,
        "stats" => stats::run(matches, session).await,
        _ => Err(Stop::usage("no such command")),
    })
}

fn write(session: &Session, dead: &[CallRecord]) -> Result<(), Stop> {
    calls::write(session, dead, || {
        let heads = ["ID", "TOOL", "KIND", "RUN", "ATTEMPTS", "SINCE", "ARGUMENTS"];
        let mut table = Table::new(heads);
        for call in dead {
            let since = when::away(call.updated, session.now);
            let arguments = printable::shorten(&call.shown, LONGEST);
            let (id, attempts) = (call.id.to_string(), call.attempt.to_string());
            let run = &call.place.run;
            table.row([&id, &call.tool, &kind(call), run, &attempts, &since, &arguments]);
        }
        table
    })
}

async fn show(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let call = ids::find_one(matches, &*session.store).await?;
    if call.state != State::Dead {
        tell("note", format!("the call is not a dead letter: it is {}", call.state));
    }
    let history = session.store.history(call.id).await?;
    session.output.write(&DeadLetter::of(&call, &history), || {
        sheet::request(&call, session.now)
            + &sheet::standing(&call, session.now)
            + &sheet::history(&history)
    })
}

async fn export(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    for call in which::all(matches, session).await? {
        let history = session.store.history(call.id).await?;
        Output::Json.object(&DeadLetter::of(&call, &history))?;
    }
    Ok(())
}
