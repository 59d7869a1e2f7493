//! `plan`: shows the calls that agents have planned instead of running them, in the order in which the model made them,
//! and accepts or rejects them.

mod whole;

use std::collections::BTreeSet;

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};
use toolwright::approval::Statement;
use toolwright::journal::{CallRecord, State};

use crate::operator::decide::Decider;
use crate::operator::each::Each;
use crate::operator::{Output, Session, Stop, decide, filter, ids, number, session, signing};
use crate::shown::call::Call;
use crate::shown::{printable, sheet};
use crate::{Exit, complain};

pub(crate) const NAME: &str = "plan";

const ALL: &str = "all";
const FIRST: &str = "first";
const REASON: &str = "reason";

const AFTER_HELP: &str = "\
In plan mode, an application queues what would change something instead of running it. What you accept is signed \
with your key, about exactly the call that was read; the application's worker judges it like any call, so that it \
may still be refused or ask for an approval. What comes of it is its `result`; the model has its answer already.

`show` ends with the digest of the plan, for `run --all --digest` and `run --first N --digest`: then nothing is accepted that \
was put into the plan after you looked. It is the SHA-256, in hexadecimal, of a line `id generation digest` for each call.

With --json, `show` writes one call per line and no digest of the plan, as `toolwright calls --help` says; its reason and preview stand in `ask`. \
Each decision writes {\"call\", \"verdict\", \"by\", \"at\", \"state\", \"grant\", \"repeated\"}; the verdict is \
`accepted` or `rejected`.

Exit code: 0 done, or recorded already; 1 the journal failed; 2 the command line is wrong; 3 there is no such call, \
and nothing was decided; 4 another person decided, or the call changed; 5 the key cannot be used. With several \
calls: that of the first that failed.";

pub(crate) fn command() -> Command {
    let all = || Arg::new(ALL).long(ALL).action(ArgAction::SetTrue).help("The whole plan");
    let first = Arg::new(FIRST)
        .long(FIRST)
        .value_name("N")
        .value_parser(number::within(1..=u32::MAX))
        .help("How many calls to accept, from the first on");
    let reason = Arg::new(REASON)
        .long(REASON)
        .value_name("TEXT")
        .required(true)
        .help("Why, for readers of the call's history");
    let which = |names: &[&'static str]| ArgGroup::new("which").args(names).required(true);
    Command::new(NAME)
        .about("Show what agents have planned, and accept or reject it")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(session::options())
        .subcommands([
            Command::new("show").about("Show the planned calls in their order").arg(filter::run()),
            Command::new("run")
                .about("Accept planned calls, which the application then judges and runs")
                .args([
                    ids::any_calls(),
                    all(),
                    first,
                    whole::option(),
                    filter::run(),
                    decide::unseen(),
                    signing::option(),
                ])
                .group(which(&[ids::IDS, ALL, FIRST])),
            Command::new("reject")
                .about("Reject planned calls, so that they never run")
                .args([ids::any_calls(), all(), filter::run(), reason, signing::option()])
                .group(which(&[ids::IDS, ALL])),
        ])
        .after_help(AFTER_HELP)
}

pub(crate) fn run(matches: &ArgMatches) -> Exit {
    let Some((name, matches)) = matches.subcommand() else {
        return complain(Exit::Usage, "no such command");
    };
    session::run(matches, async |session| match name {
        "show" => show(matches, session).await,
        "run" => accept(matches, session).await,
        "reject" => reject(matches, session).await,
        _ => Err(Stop::usage("no such command")),
    })
}

async fn load_plan(matches: &ArgMatches, session: &Session) -> Result<Vec<CallRecord>, Stop> {
    let filter = filter::of_run(matches, vec![State::Planned]);
    filter::all(session, &filter, |_| true).await
}

async fn show(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let calls = load_plan(matches, session).await?;
    for (place, call) in calls.iter().enumerate() {
        match session.output {
            Output::Json => session.output.object(&Call::of(call))?,
            Output::Text => {
                let space = if place > 0 { "\n" } else { "" };
                let page = sheet::plan_page(call, place + 1, calls.len());
                session.output.text(format!("{space}{page}"))?;
            }
        }
    }
    let runs: BTreeSet<&str> = calls.iter().map(|call| call.place.run.as_str()).collect();
    if let (1, Output::Text) = (runs.len(), session.output) {
        session.output.text(sheet::plan(calls.len(), &whole::digest(&calls)))?;
    }
    Ok(())
}

async fn accept(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let decider = Decider::of(matches, session)?;
    let calls = find_meant(matches, session).await?;
    let each =
        Each { calls: &calls, of: State::Planned, doing: "accepting", pause: None, in_order: true };
    each.decide(&decider, |call, by, now| Statement::accept(call, by, now)).await
}

async fn reject(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let decider = Decider::of(matches, session)?;
    let calls = find_meant(matches, session).await?;
    let reason = matches.get_one::<String>(REASON);
    let each = Each {
        calls: &calls,
        of: State::Planned,
        doing: "rejecting",
        pause: None,
        in_order: false,
    };
    each.decide(&decider, |call, by, now| Statement::reject(call, reason.cloned(), by, now)).await
}

/// Finds the calls that the command line names by id, or the calls of one run's plan: of the run that `--run` names, or
/// of the only plan in the journal. `--first` limits their number.
async fn find_meant(matches: &ArgMatches, session: &Session) -> Result<Vec<CallRecord>, Stop> {
    if ids::are_given(matches) {
        return ids::find_all(matches, &*session.store).await;
    }
    let mut calls = load_plan(matches, session).await?;
    let runs: BTreeSet<&str> = calls.iter().map(|call| call.place.run.as_str()).collect();
    if runs.len() > 1 {
        let runs: Vec<String> = runs.into_iter().map(printable::line).collect();
        return Err(Stop::usage(format!(
            "there are plans of {} runs: say which one with --run\n  {}",
            runs.len(),
            runs.join("\n  ")
        )));
    }
    whole::refuse_another(matches, &calls)?;
    if let Ok(Some(first)) = matches.try_get_one::<u32>(FIRST) {
        calls.truncate(*first as usize);
    }
    Ok(calls)
}
