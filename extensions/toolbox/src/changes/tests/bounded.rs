//! The limits of the log: which calls are removed, and what remains of them.

use std::fs;
use std::time::Duration;

use super::{NOW, Place, call, named, written};
use crate::ChangeLimits;
use crate::changes::plan::WantedChanges;

#[test]
fn an_undo_succeeds_where_the_log_cannot_be_bounded() {
    let place = Place::with(ChangeLimits { age: Duration::ZERO, ..ChangeLimits::default() });
    place.put("a", "0", 0o644);
    place.write(1, "a", "1");
    place.log.connection().execute_batch(
        "CREATE TEMP TRIGGER fails BEFORE DELETE ON calls BEGIN SELECT RAISE(ABORT, 'disk full'); END",
    ).unwrap();
    let undone = place.log.undo(&call(9, "undo_file"), &named("a"), WantedChanges::Newest, NOW + 1);
    assert!(!undone.unwrap().words.contains("not recorded yet"));
    place.log.prune(NOW + 1);
    assert_eq!(place.effective("a"), 2);
    assert_eq!(place.file("a").unwrap().0, "0");
}

#[test]
fn the_log_is_bounded_by_size_and_the_newest_change_stays() {
    let place = Place::with(ChangeLimits { bytes: 1024 * 1024, ..ChangeLimits::default() });
    for number in 0..100_u32 {
        let content = number.to_string().repeat(100_000);
        place.write(u64::from(number), &format!("{number}"), &content);
        let size = fs::metadata(place.log.file()).unwrap().len();
        assert!(size < 2 * 1024 * 1024, "{size} bytes after {number} changes");
    }
    assert_eq!(place.changes("0"), []);
    place.undo("99", WantedChanges::Newest).unwrap();
    assert!(!place.path("99").exists());
}

#[test]
fn a_log_that_is_too_large_loses_no_more_calls_than_it_has_to() {
    let place = Place::with(ChangeLimits { bytes: 1024 * 1024, ..ChangeLimits::default() });
    for number in 0..8_u64 {
        place.write(number, &number.to_string(), &number.to_string().repeat(200_000));
    }
    let found: Vec<_> = (0..8).map(|number| place.changes(&number.to_string()).len()).collect();
    assert_eq!((found[0], &found[5..]), (0, &[1, 1, 1][..]), "{found:?}");
}

#[test]
fn the_space_of_removed_contents_is_returned() {
    let place = Place::with(ChangeLimits { bytes: 1024 * 1024, ..ChangeLimits::default() });
    place.write(1, "a", &"a".repeat(20 << 20));
    place.write(2, "b", "b");
    assert_eq!(place.changes("a"), []);
    let connection = place.log.connection();
    let unused = connection.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0));
    assert_eq!(unused.unwrap(), 0);
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let size = fs::metadata(place.log.file()).unwrap().len();
    assert!(size < 2 << 20, "{size} bytes");
}

#[test]
fn what_is_too_old_is_removed() {
    let place =
        Place::with(ChangeLimits { age: Duration::from_secs(60), ..ChangeLimits::default() });
    place.write(1, "a", "1");
    let later = NOW + 61_000;
    let begun = place.log.begin(&call(2, "write_file"), &written("b"), later).unwrap();
    place.put("b", "1", 0o644);
    place.log.finish(begun).unwrap();
    place.log.prune(later);
    assert_eq!(place.changes("a"), []);
    assert_eq!(place.undo("a", WantedChanges::Newest).unwrap_err().kind(), "not_found");
}
