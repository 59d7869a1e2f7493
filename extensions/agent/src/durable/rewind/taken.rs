//! Finds the calls whose changes a rewind undoes: the calls of all turns after the target turn, in each run of a chain
//! of forks, and the calls that those calls have made.

use std::collections::HashMap;

use toolwright::journal::{CallRecord, Filter, Page, State, Store};
use toolwright::unstable::changes::{ChangingCalls, RestoredFiles};
use toolwright::{CallId, Effect};

use super::super::RunError;
use super::super::head::Head;
use super::super::runs::head_of;

/// How many calls are read at once.
const PAGE: usize = 1_000;

/// The maximum number of runs that are read in a chain of forks.
const FORKS: usize = 10_000;

/// An effect of a call that no rewind undoes, such as a program that ran or a message that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LastingEffect {
    /// The run that made the call.
    pub run: String,
    /// The turn of the call.
    pub turn: u64,
    /// The id of the call.
    pub call: CallId,
    /// The name of the call's tool.
    pub tool: String,
    /// The state of the call; `None` if the journal does not have the call.
    pub state: Option<State>,
    /// The arguments of the call as people see them; empty if the journal does not have the call.
    pub shown: String,
}

/// The calls of the turns that a rewind undoes.
pub(super) struct TakenTurns {
    pub calls: ChangingCalls,
    /// The records of the calls, each with its turn.
    records: Vec<(u64, CallRecord)>,
}

impl TakenTurns {
    /// Finds the calls after a turn of this run, also in the runs from which it was forked.
    pub(super) async fn after(store: &dyn Store, head: &Head, turn: u64) -> Result<Self, RunError> {
        let mut taken = Self { calls: ChangingCalls::default(), records: Vec::new() };
        let (mut at, mut last) = (head.clone(), head.turn);
        for _ in 0..FORKS {
            let own = at.forked.as_ref().map_or(0, |forked| forked.turn);
            let first = turn.max(own) + 1;
            if first <= last {
                taken.add(store, &at.run, first..=last).await?;
            }
            let Some(forked) = at.forked.take().filter(|_| own > turn) else { return Ok(taken) };
            last = last.min(own);
            at = match head_of(store, &forked.run).await {
                Ok((above, _)) => above,
                Err(RunError::NoSuchRun { run: above }) => {
                    let why = format!(
                        "cannot go back to turn {turn}: its turns up to {own} were made in run `{above}`, whose record is removed; name \
                         turn {own} or a later one"
                    );
                    return Err(RunError::NotNow { run: head.run.clone(), why });
                }
                Err(error) => return Err(error),
            };
        }
        let why = format!(
            "cannot go back to turn {turn}: it was forked more than {FORKS} times since that turn; name a later turn"
        );
        Err(RunError::NotNow { run: head.run.clone(), why })
    }

    /// Reads the calls of these turns, which are in order for each run. The heads of the runs may be removed.
    pub(super) async fn of(store: &dyn Store, turns: &[(String, u64)]) -> Result<Self, RunError> {
        let mut taken = Self { calls: ChangingCalls::default(), records: Vec::new() };
        for of_run in turns.chunk_by(|(one, _), (other, _)| one == other) {
            if let ([(run, first), ..], [.., (_, last)]) = (of_run, of_run) {
                taken.add(store, run, *first..=*last).await?;
            }
        }
        Ok(taken)
    }

    /// Adds the calls of some turns of one run.
    async fn add(
        &mut self,
        store: &dyn Store,
        run: &str,
        turns: std::ops::RangeInclusive<u64>,
    ) -> Result<(), RunError> {
        let filter = Filter { run: Some(run.to_owned()), ..Filter::default() };
        let (mut page, mut records) = (Page::first(PAGE), HashMap::new());
        loop {
            let found = store.list(&filter, page).await?;
            // A call whose record is damaged may have changed something.
            if let Some(damaged) = found.damaged.into_iter().next() {
                return Err(damaged.error.into());
            }
            records.extend(found.calls.into_iter().map(|it| (it.id, it)));
            let Some(last) = found.next else { break };
            page = page.after(last);
        }
        let mut of_turns: Vec<(u64, CallRecord)> = Vec::new();
        for record in records.values() {
            let Some(turn) = turn_of(record, &records) else { continue };
            if turns.contains(&turn) {
                of_turns.push((turn, record.clone()));
            }
        }
        of_turns.sort_by_key(|(turn, record)| (*turn, record.id));
        let made = of_turns.iter().filter(|(_, it)| it.place.turn.is_none());
        self.calls.calls.extend(made.map(|(_, it)| it.id));
        self.calls.turns.extend(turns.map(|turn| (run.to_owned(), turn)));
        self.records.extend(of_turns);
        Ok(())
    }

    /// Returns a call that has not ended and may therefore still change something, with its turn.
    pub(super) fn open(&self) -> Option<&(u64, CallRecord)> {
        let is_open = |state: State| !state.is_answered() && state != State::Indeterminate;
        self.records.iter().find(|(_, record)| record.answer.is_none() && is_open(record.state))
    }

    /// Lists the effects of these calls that the rewind does not undo; `files` is the result of restoring the files.
    pub(super) fn lasting(&self, files: &RestoredFiles, run: &str) -> Vec<LastingEffect> {
        let acted = |it: &CallRecord| {
            let acts = [State::Succeeded, State::Failed, State::Indeterminate, State::Dead];
            it.effect != Effect::Read && (acts.contains(&it.state) || it.state == State::Discarded)
        };
        let is_lasting =
            |it: &&(u64, CallRecord)| acted(&it.1) && !files.recorded.contains(&it.1.id);
        let known = self.records.iter().filter(is_lasting);
        let mut lasting: Vec<LastingEffect> = known
            .map(|(turn, it)| LastingEffect {
                run: it.place.run.clone(),
                turn: *turn,
                call: it.id,
                tool: it.tool.clone(),
                state: Some(it.state),
                shown: it.shown.clone(),
            })
            .collect();
        // The journal has no record of this call; only the log of changes has one.
        for unrecorded in &files.unrecorded {
            if lasting.iter().all(|it| it.call != unrecorded.call) {
                lasting.push(LastingEffect {
                    run: run.to_owned(),
                    turn: unrecorded.turn.unwrap_or_default(),
                    call: unrecorded.call,
                    tool: unrecorded.tool.clone(),
                    state: None,
                    shown: String::new(),
                });
            }
        }
        lasting
    }
}

/// Returns the turn in which a call was made; for a call made by another call, the turn of the first ancestor that has
/// a turn.
fn turn_of(record: &CallRecord, records: &HashMap<CallId, CallRecord>) -> Option<u64> {
    let mut at = record;
    // A chain of parents has no cycle unless the journal is damaged.
    for _ in 0..records.len() {
        if at.place.turn.is_some() {
            break;
        }
        at = records.get(&at.parent.as_ref()?.call)?;
    }
    at.place.turn
}
