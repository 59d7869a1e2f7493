//! The options that filter a list of calls, and the calls that match.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};
use toolwright::CallId;
use toolwright::journal::{CallPage, CallRecord, DamagedCall, Filter, Page, State};

use super::{Session, Stop, ids, number};
use crate::tell;

const STATE: &str = "state";
const RUN: &str = "run";
const TOOL: &str = "tool";
const TEXT: &str = "text";
const LIMIT: &str = "limit";
const AFTER: &str = "after";
const LATEST: &str = "latest";

/// How many calls are read from the store at once.
const AT_ONCE: usize = 500;

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

pub(crate) fn run() -> Arg {
    Arg::new(RUN).long(RUN).value_name("RUN").help("Only those of this run")
}

/// Declares the options that filter calls.
pub(crate) fn narrowing() -> [Arg; 3] {
    [
        run(),
        tool(),
        Arg::new(TEXT)
            .long(TEXT)
            .value_name("TEXT")
            .help("Only those with this text in the arguments or the answer"),
    ]
}

/// Declares the options that page a list.
pub(crate) fn paging() -> [Arg; 3] {
    [
        Arg::new(LIMIT)
            .long(LIMIT)
            .value_name("N")
            .help("The most calls to list")
            .default_value("50")
            .value_parser(number::within(1..=100_000)),
        Arg::new(AFTER)
            .long(AFTER)
            .value_name("ID")
            .help("Only those after this call, in the order of the list"),
        Arg::new(LATEST).long(LATEST).action(ArgAction::SetTrue).help("The latest first"),
    ]
}

/// Declares all options of a list of calls.
pub(crate) fn options() -> impl Iterator<Item = Arg> {
    narrowing().into_iter().chain(paging())
}

pub(crate) fn tool_of(matches: &ArgMatches) -> Option<&str> {
    matches.get_one::<String>(TOOL).map(String::as_str)
}

/// Returns the states that the command line names.
pub(crate) fn states(matches: &ArgMatches) -> Vec<State> {
    let names = matches.get_many::<String>(STATE).into_iter().flatten();
    names.filter_map(|name| State::named(name)).collect()
}

/// Makes a filter of the options and these states.
pub(crate) fn from_options(matches: &ArgMatches, states: Vec<State>) -> Filter {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    Filter { states, run: text(RUN), tool: text(TOOL), text: text(TEXT), ..Filter::default() }
}

/// Makes a filter of the option for a run alone, and these states.
pub(crate) fn of_run(matches: &ArgMatches, states: Vec<State>) -> Filter {
    Filter { states, run: matches.get_one::<String>(RUN).cloned(), ..Filter::default() }
}

/// A call of a list, or its id and the error if it cannot be read.
pub(crate) type Row = Result<CallRecord, DamagedCall>;

/// Lists the matching calls in these states. Warns of calls that cannot be read, and notes if more pages follow.
pub(crate) async fn calls(
    matches: &ArgMatches,
    session: &Session,
    states: Vec<State>,
) -> Result<Vec<CallRecord>, Stop> {
    list(matches, session, &from_options(matches, states), |_| true).await
}

/// Lists the page that the options ask for. Only calls that `takes` accepts are listed.
pub(crate) async fn list(
    matches: &ArgMatches,
    session: &Session,
    filter: &Filter,
    takes: impl Fn(&CallRecord) -> bool,
) -> Result<Vec<CallRecord>, Stop> {
    let rows = rows(matches, session, filter, takes).await?;
    Ok(readable(session, rows))
}

/// Like [`list`], but returns the calls that cannot be read instead of warning of them.
pub(crate) async fn rows(
    matches: &ArgMatches,
    session: &Session,
    filter: &Filter,
    takes: impl Fn(&CallRecord) -> bool,
) -> Result<Vec<Row>, Stop> {
    let after = match matches.get_one::<String>(AFTER) {
        Some(id) => Some(ids::id(id, &*session.store).await?),
        None => None,
    };
    let limit = matches.get_one::<u32>(LIMIT).map_or(0, |limit| *limit as usize);
    let page = Page { after, limit: limit + 1, latest_first: matches.get_flag(LATEST) };
    let mut rows = take(session, filter, page, takes).await?;
    if rows.len() > limit {
        rows.truncate(limit);
        if let Some(last) = rows.last() {
            tell("note", format!("there are more: go on with --after {}", id_of(last)));
        }
    }
    Ok(rows)
}

/// Returns all calls that match the filter and `takes`.
pub(crate) async fn all(
    session: &Session,
    filter: &Filter,
    takes: impl Fn(&CallRecord) -> bool,
) -> Result<Vec<CallRecord>, Stop> {
    let rows = take(session, filter, Page::first(usize::MAX), takes).await?;
    Ok(readable(session, rows))
}

/// Returns the calls that can be read, and warns of the others.
fn readable(session: &Session, rows: Vec<Row>) -> Vec<CallRecord> {
    let read = rows.into_iter().map(|row| {
        row.inspect_err(|damaged| session.leave_out(damaged, "the call is left out")).ok()
    });
    read.flatten().collect()
}

fn id_of(row: &Row) -> CallId {
    row.as_ref().map_or_else(|damaged| damaged.id, |call| call.id)
}

/// Reads as many rows as the page asks for, and says so if no call matches.
async fn take(
    session: &Session,
    filter: &Filter,
    page: Page,
    takes: impl Fn(&CallRecord) -> bool,
) -> Result<Vec<Row>, Stop> {
    let mut rows = Vec::new();
    let mut next = Page { limit: page.limit.min(AT_ONCE), ..page };
    loop {
        let CallPage { calls, damaged, next: last } = session.store.list(filter, next).await?;
        let calls = calls.into_iter().filter(|call| takes(call)).map(Ok);
        let mut some: Vec<Row> = calls.chain(damaged.into_iter().map(Err)).collect();
        some.sort_by_key(id_of);
        if page.latest_first {
            some.reverse();
        }
        some.truncate(page.limit - rows.len());
        rows.extend(some);
        match last {
            Some(last) if rows.len() < page.limit => next = next.after(last),
            _ => break,
        }
    }
    if rows.is_empty() {
        tell("note", "there is no such call");
    }
    Ok(rows)
}
