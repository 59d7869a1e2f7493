//! The table against its promises: never an answer that a write may have made wrong, never too old, never too large.

use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;

use super::CacheStatistics;
use super::table::{Limits, OpenAccess, ReadResult, Table};
use toolwright::{File, Footprint, ResourceStamp};

const LIFETIME: Duration = Duration::from_secs(300);
const LIMITS: Limits = Limits { bytes: 10_000, lifetime: LIFETIME };
const START: Duration = Duration::ZERO;

fn reading(name: &str) -> Footprint {
    Footprint::nothing().reading::<File>(name)
}

fn writing(name: &str) -> Footprint {
    Footprint::nothing().writing::<File>(name)
}

fn stamps(version: &str) -> Box<[ResourceStamp]> {
    Box::new([ResourceStamp::new(version)])
}

fn table() -> Table<&'static str, u32> {
    Table::new(LIMITS)
}

fn found(key: &'static str, answer: u32, bytes: usize) -> ReadResult<&'static str, u32> {
    ReadResult { key, answer, bytes, stamps: stamps("1") }
}

/// A read of a file by its name, from beginning to end.
fn read(table: &mut Table<&'static str, u32>, name: &'static str, answer: u32, bytes: usize) {
    let begun = table.begin_read(&reading(name));
    table.end_read(begun, Some(found(name, answer, bytes)), START);
}

fn hit(table: &mut Table<&'static str, u32>, name: &'static str) -> Option<u32> {
    table.look_up(&name, &stamps("1"), START).copied()
}

#[test]
fn an_answer_is_remembered_for_its_time() {
    let mut table = table();
    read(&mut table, "a", 7, 10);
    assert_eq!(table.look_up(&"a", &stamps("1"), LIFETIME - Duration::from_nanos(1)), Some(&7));
    assert_eq!(table.look_up(&"a", &stamps("1"), LIFETIME), None);
    let statistics = table.statistics();
    assert_eq!((statistics.hits, statistics.misses, statistics.expirations), (1, 1, 1));
    assert_eq!((statistics.entries, statistics.bytes), (0, 0));
}

#[test]
fn an_answer_of_another_version_is_forgotten() {
    let mut table = table();
    read(&mut table, "a", 7, 10);
    assert_eq!(table.look_up(&"a", &stamps("2"), START), None);
    assert_eq!(hit(&mut table, "a"), None, "the first version may come back with another content");
    assert_eq!(table.statistics().invalidations, 1);
}

#[test]
fn a_write_is_seen_when_it_begins_and_when_it_ends() {
    let mut table = table();
    for (name, answer) in [("src/a", 1), ("src/b", 2), ("docs/c", 3)] {
        read(&mut table, name, answer, 10);
    }
    let write = table.begin_write(&writing("./src/a"));
    assert_eq!(
        ["src/a", "src/b", "docs/c"].map(|it| hit(&mut table, it)),
        [None, Some(2), Some(3)]
    );
    // Read in the middle of the write, and not remembered.
    read(&mut table, "src/a", 4, 10);
    assert_eq!(hit(&mut table, "src/a"), None);
    // Begun in the middle, ended after it.
    let late = table.begin_read(&reading("src/a"));
    table.end_write(write);
    table.end_read(late, Some(found("src/a", 5, 10)), START);
    assert_eq!(hit(&mut table, "src/a"), None);
    // Begun before a write, ended after it.
    let early = table.begin_read(&reading("src/b"));
    let write = table.begin_write(&writing("src"));
    table.end_write(write);
    table.end_read(early, Some(found("src/b", 6, 10)), START);
    assert_eq!(["src/b", "docs/c"].map(|it| hit(&mut table, it)), [None, Some(3)]);
    read(&mut table, "src/a", 8, 10);
    assert_eq!(hit(&mut table, "src/a"), Some(8), "the write is over");
}

#[test]
fn what_writes_every_file_makes_forget_every_file() {
    let mut table = table();
    read(&mut table, "a", 1, 10);
    let write = table.begin_write(&Footprint::nothing().writing::<File>(None));
    assert_eq!(hit(&mut table, "a"), None);
    table.end_write(write);
}

#[test]
fn what_was_used_least_recently_goes_first_and_nothing_above_half_comes_in() {
    let mut table = table();
    for name in ["a", "b", "c"] {
        read(&mut table, name, 1, 2_700);
    }
    assert_eq!(hit(&mut table, "a"), Some(1));
    read(&mut table, "d", 4, 2_700);
    assert_eq!(
        ["a", "b", "c", "d"].map(|it| hit(&mut table, it)),
        [Some(1), None, Some(1), Some(4)]
    );
    // The half itself: 5,000 bytes with the name and the overhead.
    read(&mut table, "e", 5, 5_000 - 257);
    assert_eq!(hit(&mut table, "e"), Some(5));
    read(&mut table, "f", 6, 5_000 - 256);
    assert_eq!(hit(&mut table, "f"), None);
    let CacheStatistics { evictions, too_large, bytes, .. } = table.statistics();
    assert_eq!((evictions, too_large), (3, 1));
    assert!(bytes <= LIMITS.bytes);
}

#[test]
fn a_read_without_an_answer_leaves_nothing_behind() {
    let mut table = table();
    let begun = table.begin_read(&reading("a"));
    table.end_read(begun, None, START);
    table.end_read(begun, Some(found("a", 1, 10)), START);
    assert_eq!((hit(&mut table, "a"), table.statistics().entries), (None, 0));
}

#[test]
fn a_cleared_cache_learns_nothing_from_reads_that_began_before() {
    let mut table = table();
    read(&mut table, "a", 1, 10);
    let begun = table.begin_read(&reading("b"));
    table.clear();
    table.end_read(begun, Some(found("b", 2, 10)), START);
    assert_eq!(["a", "b"].map(|it| hit(&mut table, it)), [None, None]);
    assert_eq!(table.statistics().invalidations, 1);
}

#[derive(Debug, Clone, Copy)]
enum Act {
    BeginRead(usize),
    EndRead(usize),
    BeginWrite(usize),
    EndWrite(usize),
    LookUp(usize),
    Clear,
    Wait,
}

const NAMES: [&str; 4] = ["src/a", "src/b", "src", "docs"];

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (0..4usize).prop_map(Act::BeginRead),
        (0..4usize).prop_map(Act::EndRead),
        (0..4usize).prop_map(Act::BeginWrite),
        (0..4usize).prop_map(Act::EndWrite),
        (0..4usize).prop_map(Act::LookUp),
        Just(Act::Clear),
        Just(Act::Wait),
    ]
}

proptest! {
    /// Each answer is the number of writes that had begun or ended on the resource when the read began. A hit has the
    /// number of now, and there is no hit while a write is under way.
    #[test]
    fn a_hit_is_what_a_read_would_find_now(acts in prop::collection::vec(act(), 0..60)) {
        let mut table = Table::<&'static str, u32>::new(Limits { bytes: 1_000, lifetime: LIFETIME });
        let mut versions: HashMap<&str, u32> = HashMap::new();
        let mut reads: Vec<(OpenAccess, &str, u32)> = Vec::new();
        let mut writes: Vec<(OpenAccess, &str)> = Vec::new();
        let mut now = START;
        let touched = |write: &str| {
            let write = writing(write);
            NAMES.into_iter().filter(move |name| reading(name).conflicts_with(&write))
        };
        for act in acts {
            match act {
                Act::BeginRead(index) => {
                    let name = NAMES[index];
                    let version = versions.get(name).copied().unwrap_or_default();
                    reads.push((table.begin_read(&reading(name)), name, version));
                }
                Act::EndRead(index) if index < reads.len() => {
                    let (begun, name, answer) = reads.remove(index);
                    table.end_read(begun, Some(found(name, answer, 100)), now);
                }
                Act::BeginWrite(index) => {
                    let name = NAMES[index];
                    touched(name).for_each(|it| *versions.entry(it).or_default() += 1);
                    writes.push((table.begin_write(&writing(name)), name));
                }
                Act::EndWrite(index) if index < writes.len() => {
                    let (begun, name) = writes.remove(index);
                    touched(name).for_each(|it| *versions.entry(it).or_default() += 1);
                    table.end_write(begun);
                }
                Act::LookUp(index) => {
                    let name = NAMES[index];
                    let is_written = writes.iter().any(|(_, it)| touched(it).any(|it| it == name));
                    if let Some(answer) = table.look_up(&name, &stamps("1"), now) {
                        prop_assert_eq!(*answer, versions.get(name).copied().unwrap_or_default());
                        prop_assert!(!is_written);
                    }
                }
                Act::Clear => table.clear(),
                Act::Wait => now += Duration::from_secs(100),
                Act::EndRead(_) | Act::EndWrite(_) => {}
            }
            let statistics = table.statistics();
            prop_assert!(statistics.bytes <= 1_000);
            prop_assert!((statistics.entries == 0) == (statistics.bytes == 0));
        }
        reads.into_iter().for_each(|(begun, ..)| table.end_read(begun, None, now));
        writes.into_iter().for_each(|(begun, _)| table.end_write(begun));
        table.clear();
        prop_assert_eq!((table.statistics().entries, table.statistics().bytes), (0, 0));
    }
}
