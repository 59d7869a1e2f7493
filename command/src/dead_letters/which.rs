//! The options that select dead letters, and the search for the dead letters that match them.

use clap::{Arg, ArgAction, ArgMatches};
use jiff::{SignedDuration, Timestamp};
use toolwright::journal::{CallRecord, Filter, State};

use crate::operator::{Session, Stop, duration, filter, ids};
use crate::shown::dead_letter::kind;
use crate::tell;

const KIND: &str = "kind";
const OLDER: &str = "older-than";
const ALL: &str = "all";
const DRY: &str = "dry-run";

/// Declares the options that select dead letters.
pub(super) fn filters() -> impl Iterator<Item = Arg> {
    let kind = Arg::new(KIND)
        .long(KIND)
        .value_name("KIND")
        .help("Only those whose last error is of this kind, such as timeout");
    filter::narrowing().into_iter().chain([kind, older_than()])
}

pub(super) fn older_than() -> Arg {
    Arg::new(OLDER)
        .long(OLDER)
        .value_name("DURATION")
        .value_parser(duration::parse_signed)
        .help("Only those dead for longer, such as 12h or 7d")
}

/// The options `--all` and `--dry-run`. An operator has to give `--all` to act on every dead letter that the other
/// options select.
pub(super) fn scope() -> [Arg; 2] {
    [
        Arg::new(ALL)
            .long(ALL)
            .action(ArgAction::SetTrue)
            .conflicts_with(DRY)
            .help("All that the options select: look with --dry-run first"),
        Arg::new(DRY)
            .long(DRY)
            .action(ArgAction::SetTrue)
            .help("Only list the selected dead letters, and do nothing"),
    ]
}

/// The options of [`filters`], and an argument for ids that excludes them.
pub(super) fn filters_or_ids() -> impl Iterator<Item = Arg> {
    std::iter::once(ids::any_calls().conflicts_with(ALL))
        .chain(filters().map(|option| option.conflicts_with(ids::IDS)))
}

/// Returns one page of the dead letters that the options select.
pub(super) async fn list(matches: &ArgMatches, session: &Session) -> Result<Vec<CallRecord>, Stop> {
    let (filter, takes) = filter_of(matches, session);
    filter::list(matches, session, &filter, takes).await
}

/// Returns all dead letters that the options select.
pub(super) async fn all(matches: &ArgMatches, session: &Session) -> Result<Vec<CallRecord>, Stop> {
    let (filter, takes) = filter_of(matches, session);
    filter::all(session, &filter, takes).await
}

/// The selected dead letters: to act on (`Do`), or only to list, on a dry run (`List`).
pub(super) enum MeantCalls {
    Do(Vec<CallRecord>),
    List(Vec<CallRecord>),
}

/// Finds the dead letters that the command line names by id, or with `--all` or `--dry-run` every dead letter that the
/// options select.
pub(super) async fn find_meant(
    matches: &ArgMatches,
    session: &Session,
) -> Result<MeantCalls, Stop> {
    let is_dry = matches.get_flag(DRY);
    let is_named = matches.try_contains_id(ids::IDS).unwrap_or(false) && ids::are_given(matches);
    let dead = if is_named {
        ids::find_all(matches, &*session.store).await?
    } else if is_dry || matches.get_flag(ALL) {
        all(matches, session).await?
    } else {
        return Err(Stop::usage(
            "which dead letters is not given: add --dry-run to see which ones the options leave, then --all for all of \
             them",
        ));
    };
    if is_dry {
        tell("note", format!("a dry run: {}; nothing was done", count(dead.len())));
        return Ok(MeantCalls::List(dead));
    }
    if !is_named {
        tell("note", count(dead.len()));
    }
    Ok(MeantCalls::Do(dead))
}

fn count(dead: usize) -> String {
    match dead {
        1 => "1 dead letter".to_owned(),
        dead => format!("{dead} dead letters"),
    }
}

fn filter_of(matches: &ArgMatches, session: &Session) -> (Filter, impl Fn(&CallRecord) -> bool) {
    let wanted = matches.try_get_one::<String>(KIND).ok().flatten().cloned();
    // An age that reaches back before the earliest possible time selects no dead letter.
    let before = matches
        .get_one::<SignedDuration>(OLDER)
        .map(|age| session.now.checked_sub(*age).unwrap_or(Timestamp::MIN));
    let filter =
        Filter { created_before: before, ..filter::from_options(matches, vec![State::Dead]) };
    let takes = move |call: &CallRecord| {
        before.is_none_or(|before| call.updated <= before)
            && wanted.as_ref().is_none_or(|wanted| *wanted == kind(call))
    };
    (filter, takes)
}
