//! Sixty-four tasks at once: every catalog is whole, every call has one answer, nobody waits for a lock
//! that a tool or a listener holds.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::join_all;
use toolwright::dialect::Dialect;
use toolwright::{Catalog, Executor, Registry, tool};

use super::GREET;
use crate::support::{PING, call, kind};

const TASKS: usize = 64;
const ROUNDS: usize = 40;

/// Counts, and gives others their turn while it is at it.
#[tool(effect = read)]
async fn count_up(counter: &AtomicU64, registry: &Registry) -> String {
    // A tool may use the registry that it is called from: no lock is held across it.
    let before = registry.generation();
    tokio::task::yield_now().await;
    counter.fetch_add(1, Ordering::SeqCst);
    drop(registry.catalog());
    format!("{before}")
}

/// Names are unique, the index agrees with the list, and a listing tells what the catalog holds.
fn is_whole(catalog: &Catalog) {
    let names: Vec<&str> = catalog.names().collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
    for name in &names {
        assert_eq!(catalog.get(name).unwrap().name, *name);
    }
    assert_eq!(catalog.len(), names.len());
}

async fn task(number: usize, executor: Executor) -> (usize, usize) {
    let registry = executor.registry().clone();
    let own = format!("own_{number}");
    let (mut made, mut answered) = (0, 0);
    let mut last = 0;
    for round in 0..ROUNDS {
        match (number + round) % 8 {
            0 => {
                registry.register(PING.renamed(&own)).unwrap();
                made += 1;
                // What was registered can be called at once, by who registered it.
                let answer = executor.call(&toolwright::Call::new(own.as_str(), "{}")).await;
                assert_eq!(answer.text(), "pong");
                answered += 1;
                registry.unregister(&own).unwrap();
            }
            1 => {
                registry.disable("greet").unwrap();
                tokio::task::yield_now().await;
            }
            2 => {
                registry.enable("greet").unwrap();
            }
            3 | 4 => {
                let catalog = registry.catalog();
                is_whole(&catalog);
                assert!(catalog.generation() >= last, "a generation went back");
                last = catalog.generation();
                // What is pinned runs as it is, whatever the others do meanwhile.
                let shows = catalog.get("greet").is_some();
                let pinned = executor.pinned(&catalog);
                tokio::task::yield_now().await;
                made += 1;
                let answer = pinned.call(&call("greet")).await;
                assert_eq!(kind(&answer), if shows { "ok" } else { "unknown_tool" });
                answered += 1;
            }
            5 => drop(registry.listing(Dialect::Anthropic).unwrap()),
            6 => {
                made += 1;
                let answer = executor.call(&call("greet")).await;
                assert!(["ok", "disabled_tool"].contains(&kind(&answer).as_str()));
                answered += 1;
            }
            _ => {
                made += 1;
                assert_eq!(kind(&executor.call(&call("count_up")).await), "ok");
                answered += 1;
            }
        }
    }
    (made, answered)
}

#[test]
fn sixty_four_tasks_that_call_register_disable_and_list_at_once_never_see_half_a_change() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap();
    let registry = Registry::of([COUNT_UP, GREET]).unwrap();
    let counter = Arc::new(AtomicU64::new(0));
    let (events, heard) = (Arc::new(AtomicU64::new(0)), registry.clone());
    let last = events.clone();
    registry
        .listen(move |event| {
            let before = last.swap(event.generation, Ordering::SeqCst);
            assert!(before < event.generation, "events out of order");
            // A listener may read what it is told of.
            assert!(heard.generation() >= event.generation);
        })
        .for_good();
    let executor = Executor::builder(registry.clone())
        .unrestricted()
        .service_arc(counter.clone())
        .service(registry.clone())
        .build()
        .unwrap();
    let tasks = (0..TASKS).map(|number| runtime.spawn(task(number, executor.clone())));
    let all = join_all(tasks.collect::<Vec<_>>());
    let done = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), all).await });
    let (mut made, mut answered) = (0, 0);
    for (calls, answers) in done.expect("nobody waits for ever").into_iter().map(Result::unwrap) {
        made += calls;
        answered += answers;
    }
    assert_eq!(made, answered);
    assert_eq!(counter.load(Ordering::SeqCst), (TASKS * ROUNDS / 8) as u64);
    let end = registry.catalog();
    is_whole(&end);
    assert_eq!(end.generation(), registry.generation());
    assert_eq!(events.load(Ordering::SeqCst), registry.generation(), "every event was told");
}
