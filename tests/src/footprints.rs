//! What a call touches is known before it runs, and says which calls must keep their order.

mod scopes;
mod stamps;

use proptest::prelude::*;
use toolwright::{Call, Executor, Footprint, ResourceKind, tool};

use crate::support::executor;

/// Reads a file.
#[tool(effect = read, reads(file = path))]
async fn touch_read(
    /// Which.
    path: String,
) {
    let _ = path;
}

/// Writes a file.
#[tool(writes(file = path))]
async fn touch_write(
    /// Which.
    path: String,
) {
    let _ = path;
}

/// Moves a file.
#[tool(writes(file = from, file = to))]
async fn touch_both(
    /// From where.
    from: String,
    /// To where.
    to: String,
) {
    let _ = (from, to);
}

/// Searches files.
#[tool(effect = read, reads(file = folder))]
async fn touch_some(
    /// Which folder; all of them when absent.
    folder: Option<String>,
) {
    let _ = folder;
}

/// Reads whatever it likes.
#[tool(effect = read)]
async fn touch_anything() {}

/// Writes whatever it likes.
#[tool]
async fn change_anything() {}

/// Writes nothing.
#[tool(effect = idempotent, writes())]
async fn change_nothing() {}

struct Ticket;

impl ResourceKind for Ticket {
    const LABEL: &'static str = "ticket";

    fn normalise(name: &str) -> String {
        name.trim_start_matches('#').to_owned()
    }
}

/// Closes a ticket.
#[tool(writes(Ticket = number))]
async fn close_ticket(
    /// Which.
    number: String,
) {
    let _ = number;
}

fn tools() -> Executor {
    executor([
        TOUCH_READ,
        TOUCH_WRITE,
        TOUCH_BOTH,
        TOUCH_SOME,
        TOUCH_ANYTHING,
        CHANGE_ANYTHING,
        CHANGE_NOTHING,
        CLOSE_TICKET,
    ])
}

fn touches(executor: &Executor, name: &'static str, arguments: serde_json::Value) -> Footprint {
    let call = Call::new(name, arguments.to_string());
    executor.examine(&call).unwrap().touches().unwrap().clone()
}

fn read(executor: &Executor, path: &str) -> Footprint {
    touches(executor, "touch_read", serde_json::json!({"path": path}))
}

fn write(executor: &Executor, path: &str) -> Footprint {
    touches(executor, "touch_write", serde_json::json!({"path": path}))
}

#[test]
fn a_footprint_names_its_resources_by_kind() {
    let executor = tools();
    let footprint =
        touches(&executor, "touch_both", serde_json::json!({"from": "./a", "to": "b//c"}));
    let written: Vec<_> = footprint.writes_named().unwrap().collect();
    assert_eq!(written, [("file", Some("a")), ("file", Some("b/c"))]);
    assert_eq!(footprint.reads_named().unwrap().count(), 0);
}

#[test]
fn without_names_a_read_reads_everything_and_all_else_writes_everything() {
    let executor = tools();
    let none = || serde_json::json!({});
    let [anything, change, nothing] = ["touch_anything", "change_anything", "change_nothing"]
        .map(|name| touches(&executor, name, none()));
    assert!(anything.reads_named().is_none() && change.writes_named().is_none());
    assert!(anything.conflicts_with(&change) && change.conflicts_with(&change));
    assert!(!anything.conflicts_with(&anything));
    for other in [&anything, &change, &nothing] {
        assert!(!nothing.conflicts_with(other));
    }
    assert!(change.conflicts_with(&read(&executor, "a")));
}

#[test]
fn an_absent_name_stands_for_all_of_its_kind() {
    let executor = tools();
    let all = touches(&executor, "touch_some", serde_json::json!({}));
    assert!(all.conflicts_with(&write(&executor, "anywhere/at/all")));
    let below = touches(&executor, "touch_some", serde_json::json!({"folder": "src"}));
    assert!(!below.conflicts_with(&write(&executor, "docs/a")));
}

#[test]
fn paths_whose_relation_nobody_knows_may_be_the_same_file() {
    let tools = tools();
    let conflict = |one, other| read(&tools, one).conflicts_with(&write(&tools, other));
    for [one, other] in [["/srv/a", "a"], ["../x/a", "a"], ["..", "a/b"]] {
        assert!(conflict(one, other) && conflict(other, one), "{one} and {other}");
    }
    assert!(!conflict("../a", "../b") && !conflict("/a", "/b"));
}

#[test]
fn a_kind_of_the_users_says_what_is_the_same() {
    let executor = tools();
    let ticket =
        |number: &str| touches(&executor, "close_ticket", serde_json::json!({"number": number}));
    assert!(ticket("7").conflicts_with(&ticket("#7")));
    assert!(!ticket("7").conflicts_with(&ticket("8")));
    assert!(!ticket("7").conflicts_with(&write(&executor, "7")));
}

fn path() -> impl Strategy<Value = String> {
    let part = prop_oneof![Just("a"), Just("b"), Just("ab"), Just("."), Just(".."), Just("")];
    (any::<bool>(), prop::collection::vec(part, 1..5)).prop_map(|(absolute, parts)| {
        let joined = format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"));
        // The empty path is the folder itself; something put behind it must not begin with a slash.
        if joined.is_empty() { ".".to_owned() } else { joined }
    })
}

proptest! {
    #[test]
    fn conflict_is_the_same_both_ways(one in path(), other in path()) {
        let executor = tools();
        let footprints = [
            read(&executor, &one), write(&executor, &one),
            read(&executor, &other), write(&executor, &other),
        ];
        for left in &footprints {
            for right in &footprints {
                prop_assert_eq!(left.conflicts_with(right), right.conflicts_with(left));
            }
        }
    }

    #[test]
    fn two_reads_never_conflict(one in path(), other in path()) {
        let executor = tools();
        prop_assert!(!read(&executor, &one).conflicts_with(&read(&executor, &other)));
    }

    #[test]
    fn two_spellings_of_a_file_are_one_file(path in path()) {
        let executor = tools();
        let other = if path.starts_with('/') { format!("/.{path}") } else { format!("./{path}") };
        prop_assert!(write(&executor, &path).conflicts_with(&read(&executor, &other)));
        let detour = format!("{path}/a/..");
        prop_assert!(write(&executor, &path).conflicts_with(&read(&executor, &detour)));
    }

    #[test]
    fn a_folder_contains_what_is_below_it(folder in path(), file in "[a-c]{1,3}(/[a-c]{1,3}){0,2}") {
        let executor = tools();
        let below = format!("{folder}/{file}");
        prop_assert!(read(&executor, &folder).conflicts_with(&write(&executor, &below)));
    }

    #[test]
    fn a_name_that_only_begins_alike_is_another_file(name in "[a-c]{1,3}", more in "[a-c]{1,3}") {
        let executor = tools();
        let longer = format!("{name}{more}");
        prop_assert!(!write(&executor, &name).conflicts_with(&write(&executor, &longer)));
    }
}
