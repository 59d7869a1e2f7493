//! Removes the record of a run that has ended. The id of the run cannot be used again, because the journal still has
//! the run's calls under the id. The journal would answer the calls of another run of this id with the old answers.

use jiff::Timestamp;
use toolwright::journal::{
    CallRecord, CommitError, DocumentWrite, Filter, Page, State, Store, StoreError, Transaction,
};
use toolwright::unstable::runs::{ended_key, untrusted_key};

use super::RunError;
use super::acknowledge::may_go_on;
use super::head::{Head, Phase, Rewound, written};
use super::keys;
use super::recorded::ListEntry;
use super::rewind::{refuse_rewound, refuse_unfinished};
use super::runs::head_of;
use crate::limits::ledger::{answers_of, children_of};

/// The states of calls that may have no answer yet, except those whose outcome is unknown.
const UNANSWERED: [State; 7] = [
    State::Judging,
    State::Planned,
    State::Pending,
    State::Ready,
    State::Running,
    State::Waiting,
    State::HandedOver,
];

/// How many calls are read at once.
const PAGE: usize = 1_000;

/// Removes the documents of a run, all or none.
pub(super) async fn remove(
    store: &dyn Store,
    head: &Head,
    version: u64,
    now: Timestamp,
) -> Result<(), RunError> {
    let run = &head.run;
    let not_now = |why: String| RunError::NotNow { run: run.clone(), why };
    if let Some(Rewound::Unfinished { .. }) = &head.rewound {
        return Err(refuse_rewound(head));
    }
    if head.phase != Phase::Ended {
        return Err(not_now("has not ended; cancel it, and remove it when it has".to_owned()));
    }
    // Without the record of the run's end, a worker would begin the call again.
    if let Some(call) = find_open_call(store, run).await? {
        let CallRecord { id, tool, state, .. } = call;
        return Err(not_now(format!(
            "has a call that may still go on: call {id} of `{tool}` is {state}; remove the run when the call has ended"
        )));
    }
    let documents = documents_of(store, head, version).await?;
    // The commit expects the version of the rewind's record that was read before this check.
    if let Some(Rewound::To { .. }) = &head.rewound {
        refuse_unfinished(store, head).await?;
    }
    let unit = Transaction { documents, ..Transaction::default() };
    match store.commit(unit, now).await {
        Ok(()) => Ok(()),
        Err(CommitError::Store(error)) => Err(error.into()),
        Err(_) => Err(not_now(match head_of(store, run).await?.0.phase {
            Phase::Ended => {
                "is changed by another process at this moment; look at it, and remove it again"
                    .to_owned()
            }
            _ => "goes on, because its user has said more; remove it when it has ended".to_owned(),
        })),
    }
}

/// Finds a call of a run that has no answer and may still run or begin.
async fn find_open_call(store: &dyn Store, run: &str) -> Result<Option<CallRecord>, StoreError> {
    let states = UNANSWERED.to_vec();
    let filter = Filter { run: Some(run.to_owned()), states, ..Filter::default() };
    let mut page = Page::first(PAGE);
    loop {
        let found = store.list(&filter, page).await?;
        if let Some(open) = found.calls.into_iter().find(may_go_on) {
            return Ok(Some(open));
        }
        let Some(last) = found.next else { return Ok(None) };
        page = page.after(last);
    }
}

/// Returns the writes that remove the record of a run.
pub(super) async fn documents_of(
    store: &dyn Store,
    head: &Head,
    version: u64,
) -> Result<Vec<DocumentWrite>, RunError> {
    let run = &head.run;
    let gone =
        |key: String, version: u64| DocumentWrite { key, expects: Some(version), text: None };
    let mut documents = vec![gone(keys::head(run), version)];
    for prefix in
        [keys::turns(run), keys::inbox(run), keys::sent(run), answers_of(run), children_of(run)]
    {
        let found = store.documents(&prefix).await?;
        documents.extend(found.into_iter().map(|it| gone(it.key, it.version)));
    }
    let own = [
        keys::agent(run),
        keys::cancel(run),
        keys::rewind(run),
        untrusted_key(run),
        ended_key(run),
    ];
    for key in own.into_iter().chain([keys::open(run), keys::ended(run)]) {
        if let Some(found) = store.document(&key).await? {
            documents.push(gone(key, found.version));
        }
    }
    let key = keys::removed(run);
    let text = written(&ListEntry { agent: &head.agent, since: head.created });
    let text = text.map_err(|error| RunError::damaged(&key, error))?;
    documents.push(DocumentWrite { key, expects: None, text: Some(text) });
    Ok(documents)
}
