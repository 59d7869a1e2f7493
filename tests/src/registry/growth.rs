//! Ten times the tools take ten times the work, whatever is done with them. What is allocated is counted
//! to the byte; time is only asked where a look at every tool would allocate nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

use toolwright::dialect::Dialect;
use toolwright::{Call, Executor, Profile, Registry};

use crate::support::PING;

const FEW: usize = 1_000;
const MANY: usize = 10_000;

/// A table that doubles when it is full may be at another point of its growth.
const MOST_BYTES: f64 = 15.0;

/// One step may take so many times longer among ten times the tools. Who looks at every tool takes ten
/// times longer and more; caches have the rest.
const MOST_TIME: f64 = 6.0;

/// How many steps are timed together.
const PIECE: usize = 50;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

/// Counts what each thread allocates.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

#[expect(unsafe_code, reason = "an allocator is unsafe to write; this one counts and passes on")]
// SAFETY: every call is the system allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no counter any more.
        let _ = ALLOCATED.try_with(|bytes| bytes.set(bytes.get() + layout.size()));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn name(number: usize) -> String {
    format!("tool_{number:05}")
}

/// A registry of so many tools, each of which came alone.
fn one_by_one(tools: usize) -> Registry {
    let registry = Registry::empty();
    for number in 0..tools {
        registry.register(PING.renamed(name(number)).grouped("all")).unwrap();
    }
    registry
}

fn executor(registry: Registry) -> Executor {
    Executor::builder(registry).unrestricted().build().unwrap()
}

/// The bytes that the work allocates.
fn bytes(work: impl FnOnce()) -> f64 {
    let before = ALLOCATED.with(Cell::get);
    work();
    (ALLOCATED.with(Cell::get) - before) as f64
}

/// Twice where need be: while a test beside this one traces, calls here make spans too.
fn allocates(what: &str, work: impl Fn(usize) -> f64) {
    let measured = || (work(FEW), work(MANY));
    let holds = |(few, many): (f64, f64)| many < MOST_BYTES * few;
    let first = measured();
    if !holds(first) {
        let again = measured();
        assert!(
            holds(again),
            "{what}: bytes for {FEW} and {MANY} tools: {first:?}, then {again:?}"
        );
    }
}

#[test]
fn ten_times_the_tools_allocate_ten_times_the_bytes() {
    allocates("registered one by one", |tools| bytes(|| drop(one_by_one(tools))));
    allocates("unregistered one by one", |tools| {
        let registry = one_by_one(tools);
        bytes(|| (0..tools).for_each(|number| drop(registry.unregister(&name(number)).unwrap())))
    });
    allocates("a catalog", |tools| {
        let registry = one_by_one(tools);
        bytes(|| assert_eq!(registry.catalog().len(), tools))
    });
    allocates("listed", |tools| {
        let catalog = one_by_one(tools).catalog();
        bytes(|| drop(catalog.listing(Dialect::Anthropic).unwrap()))
    });
    allocates("selected", |tools| {
        let catalog = one_by_one(tools).catalog();
        let profile = Profile::new(["group:all", "!tool_00000"]).unwrap();
        bytes(|| assert_eq!(catalog.select(&profile).unwrap().len(), tools - 1))
    });
    allocates("built and pinned", |tools| {
        let registry = one_by_one(tools);
        bytes(|| {
            let executor = executor(registry.clone());
            registry.register(PING).unwrap();
            drop(executor.pinned(&registry.catalog()));
        })
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    allocates("each called right after it was registered", |tools| {
        let executor = executor(Registry::empty());
        bytes(|| {
            for number in 0..tools {
                executor.registry().register(PING.renamed(name(number))).unwrap();
                let answer = runtime.block_on(executor.call(&Call::new(name(number), "{}")));
                assert_eq!(answer.text(), "pong");
            }
        })
    });
}

#[test]
fn a_catalog_that_was_taken_before_and_a_listing_that_was_made_allocate_nothing() {
    let registry = one_by_one(FEW);
    let listing = registry.listing(Dialect::Anthropic).unwrap();
    let taken = bytes(|| drop(registry.catalog()));
    let again = bytes(|| drop(registry.listing(Dialect::Anthropic).unwrap()));
    assert_eq!((taken, again), (0.0, 0.0));
    assert!(listing.tools().get().len() > FEW);
}

/// What one step takes at its quickest: the steps are timed in pieces so short that hardly any of them
/// is disturbed, and the quickest piece counts.
fn quickest(names: &[String], mut step: impl FnMut(&str)) -> Duration {
    let piece = |names: &[String]| {
        let started = Instant::now();
        names.iter().for_each(|name| step(name));
        started.elapsed() / PIECE as u32
    };
    names.chunks_exact(PIECE).map(piece).min().unwrap()
}

#[test]
fn a_tool_among_ten_times_as_many_is_found_and_called_about_as_fast() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let time = |tools: usize| {
        let executor = executor(one_by_one(tools));
        // Each as often for the few as for the many.
        let names: Vec<String> = (0..MANY).map(|number| name(number % tools)).collect();
        let catalog = executor.catalog();
        let found = quickest(&names, |name| assert!(catalog.get(name).is_some()));
        let mut call = |name: &str| {
            let call = Call::new(name, "{}");
            assert!(!runtime.block_on(executor.call(&call)).is_error());
        };
        // A debug build makes the check of a tool's output at the first call.
        names.iter().for_each(|name| call(name));
        let called = quickest(&names, &mut call);
        executor.registry().register(PING).unwrap();
        [found, called, quickest(&names, call)]
    };
    let whats = ["found", "called", "called after a change"];
    for (what, (few, many)) in whats.into_iter().zip(time(FEW).into_iter().zip(time(MANY))) {
        println!("{what}: {few:?} among {FEW} tools, {many:?} among {MANY}");
        let growth = many.as_secs_f64() / few.as_secs_f64().max(1e-9);
        assert!(growth < MOST_TIME, "{what}: {few:?} among {FEW} tools, {many:?} among {MANY}");
    }
}
