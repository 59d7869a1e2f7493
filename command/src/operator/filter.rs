//! Which calls a list shows: the options, and the calls they leave.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use toolwright::journal::{CallRecord, Filter, Page, State};

use super::{Session, Stop, ids};
use crate::tell;

const STATE: &str = "state";
const RUN: &str = "run";
const TOOL: &str = "tool";
const TEXT: &str = "text";
const LIMIT: &str = "limit";
const AFTER: &str = "after";
const LATEST: &str = "latest";

pub(crate) fn state() -> Arg {
    Arg::new(STATE)
        .long("state")
        .value_name("STATE")
        .action(ArgAction::Append)
        .value_parser(PossibleValuesParser::new(State::ALL.map(State::name)))
        .hide_possible_values(true)
        .help("Only calls in this state, repeatable: judging, planned, pending, ready, running, indeterminate, dead, succeeded, failed, refused, rejected, expired, cancelled, discarded")
}

pub(crate) fn tool() -> Arg {
    Arg::new(TOOL).long("tool").value_name("NAME").help("Only those of this tool")
}

/// The options of every list of calls.
pub(crate) fn options() -> [Arg; 6] {
    let option =
        |name: &'static str, value, help| Arg::new(name).long(name).value_name(value).help(help);
    [
        option(RUN, "RUN", "Only those of this run"),
        tool(),
        option(TEXT, "TEXT", "Only those with this text in the arguments or the answer"),
        option(LIMIT, "N", "At most so many")
            .default_value("50")
            .value_parser(value_parser!(u32).range(1..=100_000)),
        option(AFTER, "ID", "Only those after this call, in the order of the list"),
        Arg::new(LATEST).long(LATEST).action(ArgAction::SetTrue).help("The latest first"),
    ]
}

pub(crate) fn tool_of(matches: &ArgMatches) -> Option<&str> {
    matches.get_one::<String>(TOOL).map(String::as_str)
}

/// The states of the command line.
pub(crate) fn states(matches: &ArgMatches) -> Vec<State> {
    let names = matches.get_many::<String>(STATE).into_iter().flatten();
    names.filter_map(|name| State::named(name)).collect()
}

/// The calls that the options leave, in these states. That there are more is told.
pub(crate) async fn calls(
    matches: &ArgMatches,
    session: &Session,
    states: Vec<State>,
) -> Result<Vec<CallRecord>, Stop> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let filter =
        Filter { states, run: text(RUN), tool: text(TOOL), text: text(TEXT), ..Filter::default() };
    let after = match text(AFTER) {
        Some(id) => Some(ids::one(&id, &*session.store).await?.id),
        None => None,
    };
    let limit = matches.get_one::<u32>(LIMIT).map_or(0, |limit| *limit as usize);
    let page = Page { after, limit: limit + 1, latest_first: matches.get_flag(LATEST) };
    let mut calls = session.store.list(&filter, page).await?;
    if calls.is_empty() {
        tell("note", "there is no such call");
    }
    if calls.len() > limit {
        calls.truncate(limit);
        if let Some(last) = calls.last() {
            tell("note", format!("there are more: go on with --after {}", last.id));
        }
    }
    Ok(calls)
}
