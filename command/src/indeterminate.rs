//! `indeterminate`: lists calls of which it is unknown whether they happened, and records what an operator finds out.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use jiff::Timestamp;
use toolwright::approval::Statement;
use toolwright::journal::State;

use crate::operator::decide::{CallDecision, Decider};
use crate::operator::{Session, Stop, decide, filter, ids, session, signing, value};
use crate::shown::table::Table;
use crate::shown::{printable, when};
use crate::{Exit, calls, complain, tell};

pub(crate) const NAME: &str = "indeterminate";

const HAPPENED: &str = "happened";
const DID_NOT: &str = "did-not-happen";
/// How many characters of a call's arguments a list shows.
const LONGEST: usize = 60;

const AFTER_HELP: &str = "\
Such a call must not be repeated, and its outcome was lost: the process ended, or the connection broke. Its run \
waits. Find out what happened, for instance by the call's key in the service it went to, and say so.

With --json, `list` writes one call per line, as `toolwright calls --help` says; `resolve` writes {\"call\", \
\"verdict\", \"by\", \"at\", \"state\", \"grant\", \"repeated\"}; the verdict is `happened` or `did_not_happen`.

Exit code: 0 done, or recorded already; 1 the journal or a file failed; 2 the command line is wrong; 3 there is \
no such call; 4 another person decided, or the call changed; 5 the key cannot be used.";

pub(crate) fn command() -> Command {
    let happened = Arg::new(HAPPENED)
        .long(HAPPENED)
        .value_name("RESULT|@FILE|-")
        .help("It happened, and this is its result, which the model gets");
    let did_not = Arg::new(DID_NOT)
        .long(DID_NOT)
        .action(ArgAction::SetTrue)
        .help("It did not happen: the call is judged again, and may run again");
    Command::new(NAME)
        .about("Show the calls that may have happened, and record whether they did")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(session::options())
        .subcommands([
            Command::new("list")
                .about("List the calls whose outcome is unknown")
                .args(filter::options()),
            Command::new("resolve")
                .about("Record whether a call happened")
                .args([ids::one_call(), happened, did_not, decide::unseen(), signing::option()])
                .group(ArgGroup::new("outcome").args([HAPPENED, DID_NOT]).required(true)),
        ])
        .after_help(AFTER_HELP)
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    match matches.subcommand() {
        Some(("list", matches)) => {
            session::run(matches, async |session| list(matches, session).await)
        }
        Some(("resolve", matches)) => {
            session::run(matches, async |session| resolve(matches, session).await)
        }
        _ => complain(Exit::Usage, "no such command"),
    }
}

async fn list(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let calls = filter::calls(matches, session, vec![State::Indeterminate]).await?;
    calls::write(session, &calls, || {
        let mut table = Table::new(["ID", "TOOL", "RUN", "SINCE", "KEY", "ARGUMENTS"]);
        for call in &calls {
            let since = when::away(call.updated, session.now);
            let arguments = printable::shorten(&call.shown, LONGEST);
            let (id, run) = (call.id.to_string(), &call.place.run);
            table.row([&id, &call.tool, run, &since, &call.idempotency_key, &arguments]);
        }
        table
    })
}

async fn resolve(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let decider = Decider::of(matches, session)?;
    let call = ids::find_one(matches, &*session.store).await?;
    let statement = match matches.get_one::<String>(HAPPENED) {
        Some(result) => {
            let result = value::read_given(result)?;
            tell("result", printable::line(&result));
            Statement::happened(&call, result, decider.name(), Timestamp::now())
        }
        None => Statement::did_not_happen(&call, decider.name(), Timestamp::now()),
    };
    let decision =
        CallDecision { call: &call, statement, of: State::Indeterminate, doing: "resolving" };
    decider.decide(decision).await
}
