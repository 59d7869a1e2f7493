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

/// Counts.
#[tool(effect = read)]
async fn count(
    hook: &(dyn Fn(&str) -> bool + Send + Sync),
    cut: &(dyn for<'a> Fn(&'a str) -> Option<&'a str> + Send + Sync),
    named: &Named<&'static str, fn(&str) -> &str>,
) -> usize {
    std::future::ready(()).await;
    cut((named.1)(named.0)).filter(|it| hook(it)).map_or(0, str::len)
}

/// Counts, on another thread.
#[tool(blocking)]
fn count_blocking(hook: &(dyn Fn(&str, &[u8]) -> bool + Send + Sync)) -> bool {
    hook("", &[])
}

struct Named<N, F>(N, F);

fn reason(store: &dyn Store) -> Option<String> {
    store.list().pop()
}

pub(super) fn main() {
    Registry::of([LIST, LIST_LATER, COUNT, COUNT_BLOCKING]).expect("sound tools");
}
