//! Rules about transactions, which are committed completely or not at all.

use std::sync::Arc;

use super::sample::*;
use toolwright_journal::journal::{
    CallRecord, CommitError, State, Store, StoreErrorKind, Transaction, Transition,
};

pub async fn a_unit_is_done_whole(store: &Arc<impl Store>) {
    let mut changed = add(store, call_at(place("run", 1, 0))).await;
    let change = happening(&mut changed, Transition::Asked);
    let (first, second) = (call_at(place("run", 1, 1)), call_at(place("run", 1, 2)));
    let writes = [opening(&first), change, opening(&second)];
    let documents = [document("a", None, "1"), document("b", None, "2")];
    commit(store, unit(writes, documents)).await;
    for record in [&changed, &first, &second] {
        assert_eq!(
            got(store, record.id).await.as_ref(),
            Some(record),
            "a call of the unit is not there"
        );
        let found = stood_at(store, &record.place).await;
        assert_eq!(found.as_ref(), Some(record), "a call of the unit is not at its place");
    }
    assert_eq!(history(store, changed.id).await.len(), 2, "an entry of the unit is not there");
    assert_eq!(keys(store, "").await, ["a", "b"], "a document of the unit is not there");
}

pub async fn a_call_that_conflicts_undoes_its_unit(store: &Arc<impl Store>) {
    let (mut first, mut second, kept) = three(store).await;
    let mut stale = second.clone();
    commit(store, calls([happening(&mut second, Transition::Asked)])).await;
    let (new, other) = (call_at(place("run", 2, 0)), call("run"));
    let writes = [
        opening(&new),
        happening(&mut first, Transition::Allowed),
        happening(&mut stale, Transition::Denied),
        opening(&other),
    ];
    let documents = [document("kept", Some(1), "changed"), document("new", None, "made")];
    let error =
        commit_refused(store, unit(writes, documents), "one of its calls has changed").await;
    assert!(
        matches!(error, CommitError::Call { call, expected: Some(1), found: Some(2) } if call == stale.id),
        "a call that has changed is reported as: {error}"
    );
    nothing_of_it(store, &kept, &[new, other]).await;
    assert_eq!(got(store, second.id).await, Some(second), "what won is lost");
}

pub async fn a_document_that_conflicts_undoes_its_unit(store: &Arc<impl Store>) {
    let (mut first, _, kept) = three(store).await;
    let new = call_at(place("run", 2, 0));
    let writes = [opening(&new), happening(&mut first, Transition::Allowed)];
    let documents = [
        document("new", None, "made"),
        document("kept", Some(7), "changed"),
        removal("kept2", Some(1)),
    ];
    let error =
        commit_refused(store, unit(writes, documents), "one of its documents is another").await;
    assert!(
        matches!(&error, CommitError::Document { key, expected: Some(7), found: Some(1) } if key == "kept"),
        "a document that has changed is reported as: {error}"
    );
    nothing_of_it(store, &kept, &[new]).await;
}

/// Adds two calls and two documents. Returns the calls, and a copy of the first call, which must stay unchanged.
async fn three(store: &Arc<impl Store>) -> (CallRecord, CallRecord, CallRecord) {
    let first = add(store, call_at(place("run", 1, 0))).await;
    let second = add(store, call_at(place("run", 1, 1))).await;
    commit(store, unit([], [document("kept", None, "as it was"), document("kept2", None, "")]))
        .await;
    (first.clone(), second, first)
}

async fn nothing_of_it(store: &Arc<impl Store>, kept: &CallRecord, new: &[CallRecord]) {
    let found = got(store, kept.id).await;
    assert_eq!(found.as_ref(), Some(kept), "a call is changed by a unit that conflicts");
    assert_eq!(history(store, kept.id).await.len(), 1, "an entry is left of a unit that conflicts");
    for record in new {
        assert_eq!(got(store, record.id).await, None, "a call is left of a unit that conflicts");
        assert_eq!(stood_at(store, &record.place).await, None, "a place is taken by no call");
        assert_eq!(
            history(store, record.id).await,
            [],
            "an entry is left of a unit that conflicts"
        );
    }
    assert_eq!(
        keys(store, "").await,
        ["kept", "kept2"],
        "documents are changed by a unit that conflicts"
    );
    let text = read(store, "kept").await.map(|it| it.text);
    assert_eq!(
        text.as_deref(),
        Some("as it was"),
        "a document is changed by a unit that conflicts"
    );
}

pub async fn a_new_call_needs_an_id_that_is_free(store: &Arc<impl Store>) {
    let there = add(store, call_at(place("run", 1, 0))).await;
    for place in [place("run", 1, 0), place("run", 1, 1)] {
        let twin = call_at(place).with(|it| {
            it.id = there.id;
            it.version = 5;
        });
        let error = commit_refused(store, calls([opening(&twin)]), "a call has its id").await;
        assert!(
            matches!(error, CommitError::Call { call, expected: None, found: Some(1) } if call == there.id),
            "an id that is taken is reported as: {error}"
        );
    }
    assert_eq!(got(store, there.id).await, Some(there), "a call is changed by one of its id");
}

pub async fn a_new_call_needs_a_place_that_is_free(store: &Arc<impl Store>) {
    let there = add(store, call_at(place("run", 1, 0))).await;
    let twin = call_at(place("run", 1, 0));
    let error = commit_refused(store, calls([opening(&twin)]), "another call has its place").await;
    assert!(
        matches!(&error, CommitError::CallSlot { place, holder } if *holder == there.id && *place == there.place),
        "a place that is taken is reported as: {error}"
    );
    for other in [place("run", 1, 1), place("run", 2, 0), place("other", 1, 0)] {
        add(store, call_at(other)).await;
    }
    let far = call("run").with(|it| it.place = place("run", u64::MAX, u32::MAX));
    add(store, far.clone()).await;
    assert_eq!(stood_at(store, &far.place).await, Some(far), "a call is not at the largest place");
    assert_eq!(stood_at(store, &there.place).await, Some(there), "a place has another call");
    assert_eq!(
        stood_at(store, &place("run", 3, 0)).await,
        None,
        "a call is there that was never written"
    );
}

pub async fn two_new_calls_of_a_unit_need_two_places(store: &Arc<impl Store>) {
    let (first, second) = (call_at(place("run", 1, 0)), call_at(place("run", 1, 0)));
    let both = calls([opening(&first), opening(&second)]);
    let error = commit_refused(store, both, "two of its calls stand at one place").await;
    assert!(
        matches!(error, CommitError::CallSlot { holder, .. } if holder == first.id),
        "two calls of a unit at one place are reported as: {error}"
    );
    assert_eq!(got(store, first.id).await, None, "a call is left of a unit that conflicts");
}

pub async fn a_call_outside_of_turns_shares_its_place(store: &Arc<impl Store>) {
    let first = add(store, call("run")).await;
    let second = add(store, call("run")).await;
    commit(store, calls([opening(&call("run")), opening(&call("run"))])).await;
    for record in [first, second] {
        let found = stood_at(store, &record.place).await;
        assert_eq!(found, None, "a call outside of turns is known by its place");
        assert_eq!(got(store, record.id).await, Some(record), "a call outside of turns is lost");
    }
}

pub async fn a_change_names_the_version_that_is_there(store: &Arc<impl Store>) {
    let mut record = add(store, call("run")).await;
    let old = record.clone();
    commit(store, calls([happening(&mut record, Transition::Asked)])).await;
    for expected in [Some(1), Some(3), Some(u64::MAX - 1), None] {
        let mut write = happening(&mut old.clone(), Transition::Denied);
        write.expects = expected;
        write.record.version = u64::MAX;
        write.entries.clear();
        let error = commit_refused(store, calls([write]), "it expects another version").await;
        assert!(
            matches!(error, CommitError::Call { expected: reported, found: Some(2), .. } if reported == expected),
            "another version than {expected:?} is reported as: {error}"
        );
    }
    let found = got(store, record.id).await;
    assert_eq!(found.as_ref(), Some(&record), "a call is changed from a version that is not there");
    // A record may skip versions, if several transitions happened since.
    let mut write = happening(&mut record, Transition::Approved);
    let claimed = happening(&mut record, Transition::Claimed);
    write.record = claimed.record;
    write.entries.extend(claimed.entries);
    commit(store, calls([write])).await;
    let found = got(store, record.id).await.map(|it| (it.version, it.state));
    assert_eq!(found, Some((4, State::Running)), "two steps in one write are not both taken");
}

pub async fn a_call_that_is_not_there_cannot_change(store: &Arc<impl Store>) {
    let mut record = call_at(place("run", 1, 0));
    let write = happening(&mut record, Transition::Asked);
    let error = commit_refused(store, calls([write]), "there is no such call").await;
    assert!(
        matches!(error, CommitError::Call { expected: Some(1), found: None, .. }),
        "a call that is not there is reported as: {error}"
    );
    assert_eq!(got(store, record.id).await, None, "a change makes a call");
}

pub async fn a_unit_that_makes_no_sense_is_refused(store: &Arc<impl Store>) {
    let there = add(store, call_at(place("run", 1, 0))).await;
    let change = || happening(&mut there.clone(), Transition::Asked);
    let mut same_version = change();
    same_version.record.version = 1;
    let mut moved = change();
    moved.record.place = place("run", 9, 9);
    let mut foreign = change();
    foreign.entries[0].call = new_id();
    let mut numbered_low = change();
    numbered_low.entries[0].number = 1;
    let mut numbered_high = change();
    numbered_high.entries[0].number = 3;
    let new = call("run");
    let wrong = [
        ("a version is not raised", calls([same_version])),
        ("a call changes its place", calls([moved])),
        ("an entry is of another call", calls([foreign])),
        ("an entry has the number of an earlier one", calls([numbered_low])),
        ("an entry has the number of a later version", calls([numbered_high])),
        ("a call is written twice", calls([opening(&new), opening(&new)])),
        (
            "a document is written twice",
            unit([], [document("a", None, "1"), document("a", None, "2")]),
        ),
    ];
    for (why, unit) in wrong {
        let error = commit_refused(store, unit, why).await;
        assert!(
            !error.is_conflict(),
            "that {why} is reported as a conflict, as if it helped to look again"
        );
        assert!(
            matches!(&error, CommitError::Store(it) if it.kind() == StoreErrorKind::Invalid),
            "that {why} is reported as {error:?}, and not as invalid"
        );
    }
    assert_eq!(
        got(store, there.id).await,
        Some(there),
        "a unit that makes no sense changes a call"
    );
    assert_eq!(got(store, new.id).await, None, "a unit that makes no sense adds a call");
    assert_eq!(read(store, "a").await, None, "a unit that makes no sense makes a document");
}

pub async fn an_empty_unit_changes_nothing(store: &Arc<impl Store>) {
    let there = add(store, call("run")).await;
    commit(store, Transaction::default()).await;
    assert_eq!(got(store, there.id).await, Some(there), "an empty unit changes a call");
}
