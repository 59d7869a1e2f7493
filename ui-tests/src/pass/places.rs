// A tool may stand in a module, in a function's body, and under conditions.
#![deny(warnings, dead_code)]
use toolwright::{Handle, Registry};

mod inner {
    pub mod search {
        /// Searches.
        #[toolwright::tool]
        pub async fn search() {}
    }
    // One tool a file: the function and its handle travel together.
    pub use search::{SEARCH, search};
}

/// Is never there.
#[cfg(any())]
#[toolwright::tool]
async fn gone(missing: NoSuchType) {}

#[cfg_attr(all(), toolwright::tool(effect = read))]
#[doc = "Is always there."]
async fn there() {}

pub(super) fn main() {
    /// Is local.
    #[toolwright::tool]
    async fn local(
        /// What.
        what: String,
    ) -> String {
        what
    }
    let _ = inner::search::search;
    drop(inner::search());
    drop(there());
    Registry::of([inner::SEARCH, THERE, LOCAL]).expect("sound tools");
    let is_linked = |name| Handle::linked().any(|tool| tool.name() == name);
    assert!(["search", "there", "local"].into_iter().all(is_linked));
}
