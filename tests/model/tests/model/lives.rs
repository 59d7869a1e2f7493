//! Whole lives of calls: the real record, kept in a real store.

use jiff::Timestamp;
use proptest::prelude::*;
use toolwright_core::context::CallId;
use toolwright_journal::journal::{
    CallRecord, CallSlot, CallWrite, Entry, MemoryStore, NotAdvanced, Note, State, Store,
    Transaction, Transition, next, replay,
};

fn note() -> Note {
    Note { who: "somebody".to_owned(), at: Timestamp::UNIX_EPOCH, why: None, signed: None }
}

fn draft() -> CallRecord {
    let place = CallSlot { run: "r".to_owned(), turn: Some(1), index: 0 };
    CallRecord::draft(CallId::from_bytes([1; 16]), place, "any", Timestamp::UNIX_EPOCH)
}

/// Any event, and now and then one that is legal, so that lives are long.
fn events() -> impl Strategy<Value = Vec<(Transition, Option<prop::sample::Index>)>> {
    let all: Vec<Transition> = Transition::all().collect();
    let event =
        (prop::sample::select(all), prop::option::weighted(0.8, any::<prop::sample::Index>()));
    prop::collection::vec(event, 0..40)
}

/// The event itself, or one of those that can happen where the call stands.
fn chosen(state: State, event: Transition, legal: Option<prop::sample::Index>) -> Transition {
    let possible: Vec<Transition> =
        Transition::all().filter(|event| next(state, *event).is_ok()).collect();
    match legal {
        Some(index) if !possible.is_empty() => *index.get(&possible),
        _ => event,
    }
}

async fn write(store: &MemoryStore, expects: Option<u64>, record: &CallRecord, entry: Entry) {
    let write = CallWrite { expects, record: record.clone(), entries: vec![entry] };
    let unit = Transaction { calls: vec![write], ..Transaction::default() };
    store.commit(unit, Timestamp::UNIX_EPOCH).await.expect("nobody else writes");
}

proptest! {
    #[test]
    fn the_history_of_any_life_replays_to_its_record(events in events()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let (store, mut record) = (MemoryStore::new(), draft());
            write(&store, None, &record, record.opened(note())).await;
            for (event, legal) in events {
                let event = chosen(record.state, event, legal);
                let before = record.clone();
                match record.advance(event, note()) {
                    Ok(entry) => {
                        prop_assert_eq!((entry.from, entry.to), (Some(before.state), record.state));
                        prop_assert_eq!(entry.number, before.version + 1);
                        write(&store, Some(before.version), &record, entry).await;
                    }
                    Err(why) => {
                        let NotAdvanced::Illegal(illegal) = why else { panic!("{why}") };
                        prop_assert_eq!((illegal.state, illegal.event), (before.state, event));
                        prop_assert!(record == before, "an illegal event changed the record");
                    }
                }
                let kept = store.get(record.id).await.expect("a store").expect("the call");
                prop_assert!(kept == record);
                let history = store.history(record.id).await.expect("a store");
                prop_assert_eq!(history.len() as u64, record.version);
                prop_assert_eq!(replay(&kept, &history), Ok(()));
                prop_assert!(record == before || replay(&before, &history).is_err()
                    || before.state == record.state);
            }
            Ok(())
        })?;
    }
}
