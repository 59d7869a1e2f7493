//! The options that filter a list of calls, and the search for the calls that match.

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

/// How many calls the command reads from the store at a time.
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

/// The options that filter calls by run, tool and text.
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

/// The options that divide a list into pages.
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

/// All options of a list: those that filter calls and those that divide the list into pages.
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

/// Makes a filter for calls that match the options and have one of these states.
pub(crate) fn from_options(matches: &ArgMatches, states: Vec<State>) -> Filter {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    Filter { states, run: text(RUN), tool: text(TOOL), text: text(TEXT), ..Filter::default() }
}

/// Makes a filter for calls that have one of these states, of the run that the options name or, if they name none, of
/// any run.
pub(crate) fn of_run(matches: &ArgMatches, states: Vec<State>) -> Filter {
    Filter { states, run: matches.get_one::<String>(RUN).cloned(), ..Filter::default() }
}

/// A row of a list: a call, or the id of a call that cannot be read, with the error.
pub(crate) type Row = Result<CallRecord, DamagedCall>;

/// Lists one page of the matching calls in these states. Warns about calls that cannot be read, and says if there are
/// more pages.
pub(crate) async fn calls(
    matches: &ArgMatches,
    session: &Session,
    states: Vec<State>,
) -> Result<Vec<CallRecord>, Stop> {
    list(matches, session, &from_options(matches, states), |_| true).await
}

/// Lists the page that the options ask for. The list has only calls for which `takes` returns true.
pub(crate) async fn list(
    matches: &ArgMatches,
    session: &Session,
    filter: &Filter,
    takes: impl Fn(&CallRecord) -> bool,
) -> Result<Vec<CallRecord>, Stop> {
    let rows = rows(matches, session, filter, takes).await?;
    Ok(readable(session, rows))
}

/// Like [`list`], but returns an error in place of each call that cannot be read, and does not warn.
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

/// Returns all calls that match the filter and for which `takes` returns true.
pub(crate) async fn all(
    session: &Session,
    filter: &Filter,
    takes: impl Fn(&CallRecord) -> bool,
) -> Result<Vec<CallRecord>, Stop> {
    let rows = take(session, filter, Page::first(usize::MAX), takes).await?;
    Ok(readable(session, rows))
}

/// Returns the calls that can be read, and warns about the others.
fn readable(session: &Session, rows: Vec<Row>) -> Vec<CallRecord> {
    let read = rows.into_iter().map(|row| {
        row.inspect_err(|damaged| session.leave_out(damaged, "the call is left out")).ok()
    });
    read.flatten().collect()
}

fn id_of(row: &Row) -> CallId {
    row.as_ref().map_or_else(|damaged| damaged.id, |call| call.id)
}

/// Reads the rows of one page, and says on standard error if there are none.
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
