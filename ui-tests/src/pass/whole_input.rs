// One type may carry the whole input, enums with data included; docs may come from a macro.
#![deny(warnings, dead_code)]
use toolwright::{Registry, data, tool};

#[data]
#[serde(rename_all = "snake_case")]
pub(crate) struct Search {
    /// What.
    #[serde(default)]
    text: String,
    /// How.
    how: How,
}

#[data]
enum How {
    Fast,
    Slow { why: String },
}

#[doc = concat!("Searches", " everything.")]
#[doc(hidden)]
#[tool(effect = read, danger = grade(&search), crate = toolwright)]
#[inline]
#[must_use]
pub(crate) async fn search(#[input] search: Search) -> Search {
    search
}

fn grade(search: &Search) -> toolwright::Danger {
    match &search.how {
        How::Fast => toolwright::Danger::Safe,
        How::Slow { why } if why.is_empty() => toolwright::Danger::Safe,
        How::Slow { .. } => toolwright::Danger::Moderate,
    }
}

pub(super) fn main() {
    let _ = search;
    Registry::of([SEARCH]).expect("a sound tool");
}
