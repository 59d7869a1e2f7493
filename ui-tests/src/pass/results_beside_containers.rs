// A `Result` around a container, in an error, or in a type of the user's own is fine.
#![deny(warnings, dead_code)]
use std::collections::BTreeMap;
use toolwright::{Registry, ToolError, tool};

/// A type of this name is no `std::result::Result`.
mod search {
    #[toolwright::data]
    pub struct Result {
        pub title: String,
    }
}

#[toolwright::data]
pub struct Batch {
    pub rows: Vec<Result<u64, String>>,
}

pub struct Failed<T>(pub T);

impl<T> From<Failed<T>> for ToolError {
    fn from(_: Failed<T>) -> Self {
        ToolError::new("failed", "it failed")
    }
}

/// Searches.
#[tool(effect = read)]
async fn search_all() -> Vec<search::Result> {
    Vec::new()
}

/// Reads a batch.
#[tool(effect = read)]
async fn batch() -> Option<Batch> {
    None
}

/// Maps.
#[tool(effect = read)]
async fn map() -> Result<BTreeMap<String, (u64, Option<String>)>, Failed<Result<u64, String>>> {
    Err(Failed(Ok(1)))
}

pub(super) fn main() {
    Registry::of([SEARCH_ALL, BATCH, MAP]).expect("sound tools");
}
