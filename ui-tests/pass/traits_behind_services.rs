// A trait behind which services stand, also to a blocking tool and by another name.
#![deny(warnings, dead_code)]
use toolwright::{Registry, tool};

trait Store: Send + Sync {
    fn list(&self) -> Vec<String>;
}

type Shared = dyn Store;

/// Lists.
#[tool(blocking)]
fn list(store: &dyn Store) -> Vec<String> {
    store.list()
}

/// Lists.
#[tool(approval = reason(store))]
async fn list_later(store: &Shared, more: &(dyn Fn() -> u8 + Send + Sync)) -> usize {
    std::future::ready(()).await;
    store.list().len() + usize::from(more())
}

fn reason(store: &dyn Store) -> Option<String> {
    store.list().pop()
}

fn main() {
    Registry::of([LIST, LIST_LATER]).expect("sound tools");
}
