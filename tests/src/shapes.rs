//! Types that serde reads in ways of its own are still held to their schema.

use serde_json::{Value, json};
use toolwright::{Call, Executor, data, tool};

use crate::support::{executor, kind, strict};

/// Where to go on.
#[data]
struct Page {
    offset: Option<u32>,
    limit: Option<u32>,
}

/// A query with a page in it.
#[data]
struct Query {
    query: String,
    #[serde(flatten)]
    page: Page,
}

/// How to sort.
#[data]
#[serde(tag = "sort", rename_all = "snake_case")]
enum Sort {
    Name,
    Size { descending: bool },
}

/// A listing with its order in it.
#[data]
struct Listing {
    folder: String,
    #[serde(flatten)]
    sort: Sort,
}

/// Searches.
#[tool(effect = read)]
async fn search_pages(
    /// What.
    query: Query,
) -> Query {
    query
}

/// Searches by a type of its own.
#[tool(effect = read)]
async fn search_whole(#[input] query: Query) -> Query {
    query
}

/// Lists.
#[tool(effect = read)]
async fn list_sorted(
    /// What.
    listing: Listing,
) -> Listing {
    listing
}

/// Counts labels.
#[tool(effect = read)]
async fn count_labels(
    /// Any keys.
    labels: std::collections::HashMap<String, String>,
) -> usize {
    labels.len()
}

/// Scales.
#[tool(effect = read)]
async fn scale(
    /// By what.
    #[arg(maximum = 0.1)]
    factor: f32,
) -> f32 {
    factor
}

async fn run(executor: &Executor, name: &str, input: Value) -> String {
    kind(&executor.call(&Call::new(name, input.to_string())).await)
}

#[tokio::test]
async fn a_flattened_struct_refuses_unknown_keys_and_nulls_like_any_other() {
    let executor = strict([SEARCH_PAGES, SEARCH_WHOLE]);
    for (wrap, name) in [(true, "search_pages"), (false, "search_whole")] {
        let input = |query: Value| if wrap { json!({"query": query}) } else { query };
        let good = input(json!({"query": "a", "offset": 1}));
        assert_eq!(run(&executor, name, good).await, "ok");
        for bad in [json!({"query": "a", "limt": 5}), json!({"query": "a", "limit": null})] {
            assert_eq!(run(&executor, name, input(bad)).await, "invalid_input");
        }
    }
}

#[tokio::test]
async fn a_flattened_enum_has_a_schema_that_its_values_satisfy_both_ways() {
    let executor = executor([LIST_SORTED]);
    let good = [
        json!({"folder": "a", "sort": "name"}),
        json!({"folder": "a", "sort": "size", "descending": true}),
    ];
    for listing in good {
        assert_eq!(run(&executor, "list_sorted", json!({"listing": listing})).await, "ok");
    }
    let bad =
        [json!({"folder": "a", "sort": "date"}), json!({"folder": "a", "sort": "name", "x": 1})];
    for listing in bad {
        let kind = run(&executor, "list_sorted", json!({"listing": listing})).await;
        assert_eq!(kind, "invalid_input");
    }
}

#[tokio::test]
async fn a_map_takes_any_key() {
    let executor = executor([COUNT_LABELS]);
    assert_eq!(run(&executor, "count_labels", json!({"labels": {"a": "b"}})).await, "ok");
}

#[tokio::test]
async fn a_number_at_its_limit_is_within_it_however_few_bits_it_has() {
    let executor = executor([SCALE]);
    assert_eq!(run(&executor, "scale", json!({"factor": 0.1})).await, "ok");
    assert_eq!(run(&executor, "scale", json!({"factor": 0.11})).await, "invalid_input");
}
