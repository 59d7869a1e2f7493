//! Explains why a run cannot go back, continue or be removed because of a rewind.

use jiff::Timestamp;
use toolwright::journal::Store;
use toolwright::unstable::changes::RestoredFiles;

use super::document::{RewindDocument, RewindStep};
use crate::durable::RunError;
use crate::durable::head::{Head, Phase, Rewound};

/// Explains why a rewound run cannot continue.
pub(in crate::durable) fn refuse_rewound(head: &Head) -> RunError {
    let why = match &head.rewound {
        Some(Rewound::To { run, turn }) => format!(
            "went back to turn {turn} as run `{run}`; go on with that one, or take the rewind back"
        ),
        Some(Rewound::Unfinished { run }) => format!(
            "goes on from a turn of run `{run}`, whose files are not all restored; do the rewind of `{run}` again, or take it back"
        ),
        None => "was rewound".to_owned(),
    };
    RunError::NotNow { run: head.run.clone(), why }
}

/// Refuses to touch a run that went back, until its rewind or the undoing of its rewind is finished.
pub(in crate::durable) async fn refuse_unfinished(
    store: &dyn Store,
    head: &Head,
) -> Result<(), RunError> {
    let (document, _) = RewindDocument::of(store, &head.run).await?;
    match document.step {
        RewindStep::Done => Ok(()),
        RewindStep::Restoring | RewindStep::Redoing(_) => Err(already(head, &document)),
    }
}

/// Makes the error for a run that cannot go back, because an earlier rewind of the run is not undone.
pub(super) fn already(head: &Head, document: &RewindDocument) -> RunError {
    let RewindDocument { to, turn, step, .. } = document;
    let why = match step {
        RewindStep::Restoring => format!(
            "goes back to turn {turn} as run `{to}`, and its files are not all restored; finish that with the same turn, or take it back"
        ),
        RewindStep::Redoing(_) => format!(
            "takes back that it went to turn {turn} as run `{to}`, and its files are not all restored; finish that first"
        ),
        RewindStep::Done => return refuse_rewound(head),
    };
    RunError::NotNow { run: head.run.clone(), why }
}

/// Refuses to rewind a run that is driven, has calls without an answer, or was rewound.
pub(super) fn may_go_back(head: &Head, now: Timestamp) -> Result<(), RunError> {
    let run = head.run.clone();
    if head.rewound.is_some() {
        return Err(refuse_rewound(head));
    }
    if let Some(lease) = head.lease.as_ref().filter(|lease| lease.until > now) {
        let (driver, until) = (lease.driver.clone(), lease.until);
        return Err(RunError::Driven { run, driver, until });
    }
    match head.phase {
        Phase::Ended | Phase::Asking => Ok(()),
        Phase::Calling | Phase::Waiting => {
            let why = format!(
                "has calls without an answer in turn {}; let it go on or cancel it, and rewind it when they are answered",
                head.turn
            );
            Err(RunError::NotNow { run, why })
        }
    }
}

pub(super) fn refuse_changed_files(run: &str, found: &RestoredFiles) -> Result<(), RunError> {
    if found.refused.is_empty() {
        return Ok(());
    }
    let files = found.refused.iter().map(ToString::to_string).collect();
    Err(RunError::FilesChanged { run: run.to_owned(), files })
}
