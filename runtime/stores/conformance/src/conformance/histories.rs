//! Rules about the history of a call, which only grows.

use std::sync::Arc;

use super::sample::*;
use toolwright_core::tool::Effect;
use toolwright_journal::approval::SignedStatement;
use toolwright_journal::journal::{CallWrite, Failure, Note, Store, Transition};

pub async fn a_history_is_in_order(store: &Arc<impl Store>) {
    let mut record = call("run");
    let mut entries = vec![record.opened(note(0))];
    commit(store, calls([opening(&record)])).await;
    let failed = Transition::Errored {
        failure: Failure::NotStarted,
        effect: Effect::Once,
        exhausted: false,
    };
    let events = [
        Transition::Asked,
        Transition::Approved,
        Transition::Claimed,
        failed,
        Transition::Claimed,
        Transition::Succeeded,
    ];
    let signed = SignedStatement {
        text: "{\"about\":\"…\"}".to_owned(),
        key: "k".to_owned(),
        signature: "0a".to_owned(),
    };
    // Commits one event in a transaction, then another one, then all remaining events at once.
    for several in [&events[..1], &events[1..2], &events[2..]] {
        let expects = Some(record.version);
        let mut added = Vec::new();
        for (step, event) in several.iter().enumerate() {
            let note = Note {
                who: format!("executor:{step}"),
                why: Some("because\n\"so\"".to_owned()),
                signed: Some(signed.clone()),
                ..note(7)
            };
            match record.advance(*event, note) {
                Ok(entry) => added.push(entry),
                Err(illegal) => panic!("a rule is written wrongly: {illegal}"),
            }
        }
        entries.extend(added.clone());
        commit(store, calls([CallWrite { expects, record: record.clone(), entries: added }])).await;
        // Adds history entries of another call in between, which must not appear in this history.
        added_another(store).await;
        assert_eq!(history(store, record.id).await, entries, "a history is not as it was added");
    }
    let numbers: Vec<_> = history(store, record.id).await.iter().map(|it| it.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7], "entries are not counted from 1");
}

async fn added_another(store: &Arc<impl Store>) {
    let mut other = add(store, call("run")).await;
    commit(store, calls([happening(&mut other, Transition::Denied)])).await;
}

pub async fn a_history_begins_with_its_call(store: &Arc<impl Store>) {
    added_another(store).await;
    assert_eq!(history(store, new_id()).await, [], "a call that is not there has a history");
}

pub async fn a_history_may_leave_numbers_out(store: &Arc<impl Store>) {
    let mut record = add(store, call("run")).await;
    commit(store, calls([revision(&mut record)])).await;
    commit(store, calls([happening(&mut record, Transition::Asked)])).await;
    let numbers: Vec<_> = history(store, record.id).await.iter().map(|it| it.number).collect();
    assert_eq!(numbers, [1, 3], "a change without an entry does not leave its number out");
}
