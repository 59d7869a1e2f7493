//! `calls watch [ID]`: prints each transition as the journal records it: of one call, or of all calls.
//!
//! - The store signals that something changed. A signal may be lost, so the command also reads the journal at
//!   intervals.
//! - Each time, the command reads the calls that have not ended and the calls made lately; other calls cannot change.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use clap::{Arg, ArgMatches, Command};
use jiff::{SignedDuration, Timestamp};
use toolwright::CallId;
use toolwright::journal::{CallRecord, DamagedCall, Filter, Page, State};

use crate::operator::{Session, Stop, duration, ids};
use crate::shown::entry::EntryRow;
use crate::shown::printable;

pub(super) const NAME: &str = "watch";

const ID: &str = "id";
const INTERVAL: &str = "interval";
/// How many calls the command reads from the store at a time.
const PAGE: usize = 500;
/// The assumed maximum of the time between the making of a call's id and the first record of the call in the journal.
const LATE: SignedDuration = SignedDuration::from_mins(1);

pub(super) fn command() -> Command {
    let interval = Arg::new(INTERVAL)
        .long(INTERVAL)
        .value_name("DURATION")
        .default_value("2s")
        .value_parser(duration::to_wait)
        .help("How often to look at least, such as 500ms or 1m");
    Command::new(NAME)
        .about("Print each transition as it happens; with an ID, until that call has ended")
        .args([ids::one_call().required(false), interval])
}

pub(super) async fn run(matches: &ArgMatches, session: &Session) -> Result<(), Stop> {
    let interval = matches.get_one::<Duration>(INTERVAL).copied().unwrap_or_default();
    if matches.contains_id(ID) {
        let call = ids::find_one(matches, &*session.store).await?;
        return one(call, session, interval).await;
    }
    let mut known = BTreeMap::new();
    let mut reported = HashSet::new();
    let mut tells = false;
    let mut since = session.now;
    loop {
        // Subscribe before reading the calls, so that a change in between ends the wait.
        let changed = session.store.changed();
        let now = Timestamp::now();
        known = look(session, known, since, tells, &mut reported).await?;
        if !tells {
            crate::tell("note", "watching from now on, until interrupted");
        }
        (tells, since) = (true, now);
        let _ = tokio::time::timeout(interval, changed).await;
    }
}

async fn one(call: CallRecord, session: &Session, interval: Duration) -> Result<(), Stop> {
    let (id, mut call, mut printed) = (call.id, call, 0);
    loop {
        let changed = session.store.changed();
        if let Some(now) = session.store.get(id).await? {
            call = now;
        }
        printed = tell(session, &call, printed).await?;
        if call.state.is_final() {
            return Ok(());
        }
        let _ = tokio::time::timeout(interval, changed).await;
    }
}

/// Prints the new transitions of each call that can have changed, if `tells`. Returns the last version of each call
/// that has been read.
async fn look(
    session: &Session,
    mut known: BTreeMap<CallId, u64>,
    since: Timestamp,
    tells: bool,
    reported: &mut HashSet<CallId>,
) -> Result<BTreeMap<CallId, u64>, Stop> {
    let open = State::ALL.into_iter().filter(|state| !state.is_final()).collect();
    let lately = first_of(since - LATE);
    let mut calls = BTreeMap::new();
    all(session, Filter { states: open, ..Filter::default() }, None, &mut calls, reported).await?;
    all(session, Filter::default(), Some(lately), &mut calls, reported).await?;
    for id in known.keys().filter(|id| !calls.contains_key(*id)).copied().collect::<Vec<_>>() {
        match session.store.get(id).await {
            Ok(call) => calls.extend(call.map(|call| (id, call))),
            Err(error) if error.is_of_a_row() => {
                leave_out(session, &DamagedCall { id, error }, reported);
            }
            Err(error) => return Err(error.into()),
        }
    }
    let mut next = BTreeMap::new();
    for call in calls.into_values() {
        let before = known.remove(&call.id).unwrap_or(0);
        let printed = match tells && call.version > before {
            true => tell(session, &call, before).await?,
            false => call.version,
        };
        if !call.state.is_final() || call.id > lately {
            next.insert(call.id, printed);
        }
    }
    Ok(next)
}

async fn all(
    session: &Session,
    filter: Filter,
    after: Option<CallId>,
    into: &mut BTreeMap<CallId, CallRecord>,
    reported: &mut HashSet<CallId>,
) -> Result<(), Stop> {
    let mut page = Page { after, ..Page::first(PAGE) };
    loop {
        let listed = session.store.list(&filter, page).await?;
        for damaged in &listed.damaged {
            leave_out(session, damaged, reported);
        }
        into.extend(listed.calls.into_iter().map(|call| (call.id, call)));
        match listed.next {
            Some(last) => page = page.after(last),
            None => return Ok(()),
        }
    }
}

/// Warns that a call cannot be read, once per call.
fn leave_out(session: &Session, damaged: &DamagedCall, reported: &mut HashSet<CallId>) {
    if reported.insert(damaged.id) {
        session.leave_out(damaged, "it is not watched");
    }
}

/// Prints the transitions of a call after its version `known`, and returns the last version printed.
async fn tell(session: &Session, call: &CallRecord, known: u64) -> Result<u64, Stop> {
    let mut last = known;
    for entry in session.store.history(call.id).await? {
        if entry.number <= known {
            continue;
        }
        last = last.max(entry.number);
        session.output.write(&EntryRow::of(call, &entry), || {
            format!("{}  {}  {}\n", call.id, printable::line(&call.tool), EntryRow::words(&entry))
        })?;
    }
    Ok(last.max(call.version))
}

/// Returns the lowest id that a call made at `time` can have: an id begins with the milliseconds at which it was made.
fn first_of(time: Timestamp) -> CallId {
    let milliseconds = u64::try_from(time.as_millisecond()).unwrap_or(0);
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&milliseconds.to_be_bytes()[2..]);
    CallId::from_bytes(bytes)
}
