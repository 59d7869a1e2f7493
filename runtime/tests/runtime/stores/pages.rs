//! By which index a page is found.

use rusqlite::Connection;
use toolwright::journal::{Filter, Page, SqliteStore, State, Store, Transaction};

use super::support::{Folder, call, now};

/// Every filter finds the same calls by its index as [`Filter::takes`] does by looking at each, among enough calls
/// that SQLite could choose otherwise.
#[tokio::test]
async fn every_filter_agrees_with_looking_at_each_call() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let calls = (0..700).map(|number| {
        let mut write = call(number, State::ALL[number as usize % 14]);
        write.record.place.run = format!("run-{}", number % 3);
        write.record.digest = format!("d-{}", number % 5);
        write.entries.clear();
        write
    });
    let unit = Transaction { calls: calls.collect(), documents: Vec::new() };
    store.commit(unit, now()).await.unwrap();
    Connection::open(folder.file()).unwrap().execute_batch("ANALYZE").unwrap();
    let all = store.list(&Filter::default(), Page::first(usize::MAX)).await.unwrap().calls;
    assert_eq!(all.len(), 700);
    let run = || Some("run-1".to_owned());
    let digest = || Some("d-2".to_owned());
    for state in State::ALL {
        for states in
            [vec![], vec![state], vec![state, State::Pending], vec![State::Succeeded, state]]
        {
            for (run, digest, due) in [
                (None, None, None),
                (run(), None, None),
                (None, digest(), None),
                (run(), digest(), None),
                (None, None, Some(now())),
                (run(), digest(), Some(now())),
            ] {
                let filter =
                    Filter { states: states.clone(), run, digest, due, ..Filter::default() };
                let found = store.list(&filter, Page::first(usize::MAX)).await.unwrap().calls;
                let expected: Vec<_> = all.iter().filter(|it| filter.takes(it)).cloned().collect();
                assert!(
                    found == expected,
                    "{filter:?} finds {} calls of {}",
                    found.len(),
                    expected.len()
                );
            }
        }
    }
}
