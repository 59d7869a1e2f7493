//! Whoever listens to a registry hears what happens to its tools.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use toolwright::{Registry, RegistryEvent, RegistryEventKind};

use super::GREET;
use crate::support::{Log, PING, builder, call};

fn word(event: &RegistryEvent) -> String {
    format!("{:?} {} {}", event.kind, event.name, event.generation)
}

/// S1.5: listeners hear of what is registered and unregistered, by the registry, and of what is
/// executed and fails, by the executor.
#[tokio::test]
async fn listeners_hear_of_tools_by_the_registry_and_of_calls_by_the_executor() {
    let log = Log::default();
    let executor = builder([PING]).listen(log.listener()).build().unwrap();
    let heard = log.clone();
    let _listening = executor.registry().listen(move |event| heard.add(word(event)));
    executor.registry().register_all([GREET]).unwrap();
    executor.call(&call("greet")).await;
    executor.registry().disable("greet").unwrap();
    executor.registry().disable("greet").unwrap();
    executor.registry().enable("greet").unwrap();
    executor.registry().unregister("greet").unwrap();
    executor.call(&call("greet")).await;
    assert_eq!(
        log.lines(),
        [
            "Registered greet 2",
            "started",
            "executing",
            "completed",
            "Disabled greet 3",
            "Enabled greet 4",
            "Unregistered greet 5",
            "started",
            "failed"
        ]
    );
}

#[test]
fn a_listener_that_panics_harms_nobody() {
    let (registry, log) = (Registry::empty(), Log::default());
    registry.listen(|_| panic!("a defect in a listener")).for_good();
    let heard = log.clone();
    registry.listen(move |event| heard.add(word(event))).for_good();
    registry.register(PING).unwrap();
    registry.register(GREET).unwrap();
    assert_eq!(log.lines(), ["Registered ping 1", "Registered greet 2"]);
}

#[test]
fn who_stops_listening_hears_no_more() {
    let (registry, heard) = (Registry::empty(), Arc::new(AtomicU32::new(0)));
    let counts = heard.clone();
    let listening = registry.listen(move |_| {
        counts.fetch_add(1, Ordering::SeqCst);
    });
    registry.register(PING).unwrap();
    drop(listening);
    registry.unregister("ping").unwrap();
    assert_eq!(heard.load(Ordering::SeqCst), 1);
    assert_eq!(Arc::strong_count(&heard), 1, "what it held is gone");
}

#[test]
fn a_listener_may_ask_and_change_the_registry_and_hears_of_that_next() {
    let (registry, log) = (Registry::empty(), Log::default());
    let (changed, heard) = (registry.clone(), log.clone());
    registry
        .listen(move |event| {
            let shown = changed.catalog().len();
            heard.add(format!("{} {shown}", word(event)));
            if event.kind == RegistryEventKind::Registered && &*event.name == "ping" {
                changed.register(GREET).unwrap();
            }
        })
        .for_good();
    registry.register(PING).unwrap();
    assert_eq!(log.lines(), ["Registered ping 1 1", "Registered greet 2 2"]);
}

#[test]
fn however_many_change_it_at_once_events_come_in_the_order_of_the_generations() {
    let (registry, heard) = (Registry::empty(), Arc::new(Mutex::new(Vec::new())));
    let generations = heard.clone();
    registry.listen(move |event| generations.lock().unwrap().push(event.generation)).for_good();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let registry = &registry;
            scope.spawn(move || {
                for number in 0..25 {
                    let name = format!("tool_{thread}_{number}");
                    registry.register(PING.renamed(&name)).unwrap();
                    registry.unregister(&name).unwrap();
                }
            });
        }
    });
    let heard = heard.lock().unwrap();
    assert_eq!(*heard, (1..=400).collect::<Vec<u64>>());
}
