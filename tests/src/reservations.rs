//! Agents that work side by side learn of each other: what one of them is about to change, another one is refused.

mod agents;
mod ends;
mod journalled;

use std::sync::Arc;
use std::time::Duration;

use toolwright::retry::RetryPolicy;
use toolwright::{
    Answer, Call, ErrorClass, Executor, ExecutorBuilder, File, Footprint, Handle, Run, ToolError,
    tool,
};
use toolwright_middleware::Reservations;

use crate::support::{Turnstile, builder, kind};

/// Writes a file when it is let go.
#[tool(unlinked, effect = idempotent, writes(file = path), timeout = none)]
async fn slow_write(
    turnstile: &Turnstile,
    /// Which.
    path: String,
    /// How it ends: `ok`, `fail` or `panic`.
    #[arg(default = "ok")]
    end: String,
) -> Result<String, ToolError> {
    turnstile.entered.add_permits(1);
    turnstile.go.acquire().await.unwrap().forget();
    match end.as_str() {
        "fail" => Err(ToolError::new("full", "the disk is full")),
        "panic" => panic!("the disk is gone"),
        _ => Ok(format!("wrote {path}")),
    }
}

/// Reads a file when it is let go.
#[tool(unlinked, effect = read, reads(file = path), timeout = none)]
async fn slow_read(
    turnstile: &Turnstile,
    /// Which.
    path: String,
) -> String {
    turnstile.entered.add_permits(1);
    turnstile.go.acquire().await.unwrap().forget();
    format!("read {path}")
}

/// Writes a file.
#[tool(unlinked, effect = idempotent, writes(file = path))]
async fn quick_write(
    /// Which.
    path: String,
) -> String {
    format!("wrote {path}")
}

/// Reads a file.
#[tool(unlinked, effect = read, reads(file = path))]
async fn quick_read(
    /// Which.
    path: String,
) -> String {
    format!("read {path}")
}

/// Does whatever it likes.
#[tool(unlinked)]
async fn do_anything() {}

/// Touches nothing.
#[tool(unlinked, effect = idempotent, writes())]
async fn touch_nothing() {}

/// Writes a file that it cannot name.
#[tool(unlinked, effect = idempotent, writes(file = nameless(&path)))]
async fn write_nameless(
    /// Which.
    path: String,
) {
    drop(path);
}

fn nameless(path: &str) -> String {
    panic!("`{path}` has no name")
}

const TOOLS: [Handle; 7] =
    [SLOW_WRITE, SLOW_READ, QUICK_WRITE, QUICK_READ, DO_ANYTHING, TOUCH_NOTHING, WRITE_NAMELESS];

/// An executor with reservations, whose calls are refused at once.
struct Scene {
    executor: Executor,
    reservations: Reservations,
    turnstile: Arc<Turnstile>,
}

impl Scene {
    fn new() -> Self {
        Self::of(|builder| builder.retry(RetryPolicy::NONE))
    }

    fn of(more: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder) -> Self {
        let (turnstile, reservations) = (Turnstile::new(), Reservations::new());
        let builder =
            builder(TOOLS).service_arc(turnstile.clone()).middleware(reservations.clone());
        Self { executor: more(builder).build().unwrap(), reservations, turnstile }
    }

    fn run(&self, id: &str) -> Run {
        self.executor.run(id).start().unwrap()
    }

    /// What is held, as `RUN: FILES`.
    fn held(&self) -> Vec<String> {
        let held = self.reservations.held().into_iter().map(|it| {
            let both = [it.footprint.resources_read(), it.footprint.resources_written()];
            let names = both.map(|it| match it {
                None => "everything".to_owned(),
                Some(files) => {
                    files.iter().filter_map(|it| it.name()).collect::<Vec<_>>().join(",")
                }
            });
            format!("{}: {}", it.run, names.join(" "))
        });
        held.collect()
    }
}

fn of(tool: &'static str, path: &str) -> Call<'static> {
    Call::new(tool, serde_json::json!({"path": path}).to_string())
}

/// The answer of a call that a task makes.
fn spawned(run: &Run, call: Call<'static>) -> tokio::task::JoinHandle<Answer> {
    let run = run.clone();
    tokio::spawn(async move { run.call(&call).await })
}

async fn answer(run: &Run, call: Call<'static>) -> Answer {
    run.call(&call).await
}

fn write(name: &str) -> Footprint {
    Footprint::nothing().writing::<File>(name)
}

/// `claim` of the blackboard; S1.65.
#[tokio::test(start_paused = true)]
async fn what_one_run_writes_is_refused_to_another_by_name_holder_and_time() {
    let scene = Scene::new();
    let writing = spawned(&scene.run("ada"), of("slow_write", "src/a.rs"));
    scene.turnstile.entered(1).await;
    assert_eq!(scene.held(), ["ada:  src/a.rs"]);
    tokio::time::advance(Duration::from_secs(10)).await;
    let bob = scene.run("bob");
    let refused = answer(&bob, of("quick_write", "src/a.rs")).await;
    let error = refused.error().unwrap();
    assert_eq!(error.kind(), "reserved");
    let ErrorClass::NotStarted { retry_after: Some(left) } = error.classified() else {
        panic!("{error:?}")
    };
    assert!(left > Duration::from_secs(30) && left <= Duration::from_secs(60), "{left:?}");
    let words = error.to_string();
    for word in ["quick_write", "file `src/a.rs`", "run `ada`", " s at the most"] {
        assert!(words.contains(word), "{words}");
    }
    assert_eq!(kind(&answer(&bob, of("quick_write", "src/b.rs")).await), "ok");
    scene.turnstile.let_go(1);
    assert_eq!(writing.await.unwrap().text(), "wrote src/a.rs");
    assert_eq!(kind(&answer(&bob, of("quick_write", "src/a.rs")).await), "ok");
    assert!(scene.held().is_empty());
}

/// The path was not brought into a normal form there; and a folder contains its files.
#[tokio::test(start_paused = true)]
async fn a_file_has_one_reservation_by_every_spelling() {
    let scene = Scene::new();
    let writing = spawned(&scene.run("ada"), of("slow_write", "src/a.ts"));
    scene.turnstile.entered(1).await;
    let bob = scene.run("bob");
    for path in ["./src/a.ts", "src//a.ts", "src/b/../a.ts", "src", "."] {
        assert_eq!(kind(&answer(&bob, of("quick_write", path)).await), "reserved", "{path}");
    }
    assert_eq!(kind(&answer(&bob, of("quick_write", "src/a.tsx")).await), "ok");
    scene.turnstile.let_go(1);
    writing.await.unwrap();
}

/// A read replaced the record of the write there, so that the next writer found nobody.
#[tokio::test(start_paused = true)]
async fn a_read_does_not_take_the_place_of_a_write() {
    let scene = Scene::new();
    let writing = spawned(&scene.run("ada"), of("slow_write", "a"));
    scene.turnstile.entered(1).await;
    for (run, tool) in [("bob", "quick_read"), ("bob", "quick_write"), ("eve", "quick_write")] {
        let refused = answer(&scene.run(run), of(tool, "a")).await;
        assert_eq!(kind(&refused), "reserved", "{run} {tool}");
    }
    scene.turnstile.let_go(1);
    writing.await.unwrap();
}

/// Only the last of several readers was known there.
#[tokio::test(start_paused = true)]
async fn every_reader_holds_off_a_writer_and_no_reader_holds_off_another() {
    let scene = Scene::new();
    let runs = ["ada", "bob"].map(|id| scene.run(id));
    let first = spawned(&runs[0], of("slow_read", "a"));
    scene.turnstile.entered(1).await;
    let second = spawned(&runs[1], of("slow_read", "a"));
    scene.turnstile.entered(1).await;
    scene.turnstile.let_go(1);
    first.await.unwrap();
    let eve = scene.run("eve");
    assert_eq!(kind(&answer(&eve, of("quick_write", "a")).await), "reserved");
    assert_eq!(kind(&answer(&eve, of("quick_read", "a")).await), "ok");
    scene.turnstile.let_go(1);
    second.await.unwrap();
    assert_eq!(kind(&answer(&eve, of("quick_write", "a")).await), "ok");
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_run_do_not_refuse_each_other() {
    let scene = Scene::new();
    let ada = scene.run("ada");
    let writing = spawned(&ada, of("slow_write", "a"));
    scene.turnstile.entered(1).await;
    assert_eq!(kind(&answer(&ada, of("quick_write", "a")).await), "ok");
    assert_eq!(kind(&answer(&scene.run("ada"), of("quick_read", "a")).await), "ok");
    let bob = scene.run("bob");
    assert_eq!(kind(&answer(&bob, of("quick_write", "a")).await), "reserved", "one call is left");
    scene.turnstile.let_go(1);
    writing.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_that_declares_nothing_has_everything() {
    let scene = Scene::new();
    let writing = spawned(&scene.run("ada"), of("slow_write", "a"));
    scene.turnstile.entered(1).await;
    let bob = scene.run("bob");
    assert_eq!(kind(&answer(&bob, Call::new("do_anything", "{}")).await), "reserved");
    assert_eq!(kind(&answer(&bob, Call::new("touch_nothing", "{}")).await), "ok");
    scene.turnstile.let_go(1);
    writing.await.unwrap();
    assert_eq!(kind(&answer(&bob, Call::new("do_anything", "{}")).await), "ok");
}

#[tokio::test(start_paused = true)]
async fn a_run_holds_beyond_its_calls_what_it_reserves_itself() {
    let scene = Scene::new();
    let (ada, bob) = (scene.run("ada"), scene.run("bob"));
    scene.reservations.reserve(ada.id(), &write("src")).unwrap();
    assert_eq!(kind(&answer(&ada, of("quick_write", "src/a")).await), "ok");
    assert_eq!(kind(&answer(&bob, of("quick_write", "src/a")).await), "reserved");
    assert!(scene.reservations.reserve(bob.id(), &write("src/a")).is_err());
    scene.reservations.release_all(bob.id());
    assert_eq!(kind(&answer(&bob, of("quick_write", "src/a")).await), "reserved", "it is ada's");
    scene.reservations.release_all(ada.id());
    assert_eq!(kind(&answer(&bob, of("quick_write", "src/a")).await), "ok");
}

/// There an expired claim counted until a sweeper came, every ten seconds.
#[tokio::test(start_paused = true)]
async fn a_reservation_that_has_expired_does_not_count_at_the_next_look() {
    let scene = Scene::new();
    let bob = scene.run("bob");
    scene.reservations.reserve("ada", &write("a")).unwrap();
    tokio::time::advance(Duration::from_millis(59_999)).await;
    assert_eq!(kind(&answer(&bob, of("quick_write", "a")).await), "reserved");
    scene.reservations.reserve("ada", &write("a")).unwrap();
    tokio::time::advance(Duration::from_millis(59_999)).await;
    assert_eq!(kind(&answer(&bob, of("quick_write", "a")).await), "reserved", "it was renewed");
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(kind(&answer(&bob, of("quick_write", "a")).await), "ok");
    assert!(scene.held().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_reservation_is_renewed_while_its_call_runs() {
    let scene = Scene::new();
    let writing = spawned(&scene.run("ada"), of("slow_write", "a"));
    scene.turnstile.entered(1).await;
    let bob = scene.run("bob");
    for minute in 0..30 {
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(kind(&answer(&bob, of("quick_write", "a")).await), "reserved", "{minute}");
    }
    scene.turnstile.let_go(1);
    assert_eq!(kind(&writing.await.unwrap()), "ok");
    assert_eq!(kind(&answer(&bob, of("quick_write", "a")).await), "ok");
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_is_made_again_when_the_time_is_over() {
    let scene = Scene::of(|builder| builder);
    scene.reservations.reserve("ada", &write("a")).unwrap();
    let began = tokio::time::Instant::now();
    assert_eq!(kind(&answer(&scene.run("bob"), of("quick_write", "a")).await), "ok");
    assert_eq!(began.elapsed().as_secs(), 60);
}
