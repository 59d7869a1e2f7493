//! A call that is answered from the cache is a call like any other: policy, listeners and journal see it.

use super::*;

use std::sync::Mutex;
use std::time::Instant;

use toolwright::journal::{Filter, Journal, MemoryStore, Page, State, Store as _};
use toolwright::policy::Policy;
use toolwright::{Executor, OnNoApprover, Registry, ToolEventKind};

use crate::support::Log;

#[tokio::test]
async fn listeners_are_told_of_a_hit() {
    let log = Log::default();
    let scene = Scene::of(|builder| builder.listen(log.listener()));
    scene.count("a.txt").await;
    assert_eq!(log.lines(), ["started", "executing", "completed"]);
    scene.count("a.txt").await;
    assert_eq!(log.lines()[3..], ["started", "cached", "completed"]);
}

/// A hit skipped everything after the cache there.
#[tokio::test]
async fn a_hit_passes_the_policy() {
    let rules = tempfile::tempdir().unwrap();
    let file = rules.path().join("policy.toml");
    fs::write(&file, "version = 1\n").unwrap();
    let (folder, runs, cache) =
        (tempfile::tempdir().unwrap(), Arc::<Runs>::default(), ReadCache::new());
    write_long_ago(&folder.path().join("a.txt"), "one");
    let executor = Executor::builder(Registry::of([COUNT_CHARACTERS]).unwrap())
        .policy(Policy::builder().load(&file))
        .service(Workspace::open(folder.path()).unwrap())
        .service_arc(Arc::clone(&runs))
        .middleware(cache.clone())
        .build()
        .unwrap();
    let count = || call(&executor, "count_characters", json!({"path": "a.txt"}));
    assert_eq!([count().await.text(), count().await.text()], ["3", "3"]);
    assert_eq!(cache.statistics().hits, 1);
    let deny = r#"
        version = 1
        [[deny]]
        name = "no"
        tool = "count_characters"
        reason = "not now"
    "#;
    fs::write(&file, deny).unwrap();
    executor.reload_policy().unwrap();
    let refused = count().await;
    assert!(refused.is_error() && refused.text().contains("not now"), "{}", refused.text());
    assert_eq!((cache.statistics().hits, runs.0.load(SeqCst)), (1, 1));
}

/// S1.68: what became of a call is recorded four times: what it took, for listeners; what it answered, in the journal; what
/// it read, in the cache, unless it failed; and as what it failed, with kind, words and attempt.
#[tokio::test]
async fn an_end_is_recorded_with_its_cost_its_result_and_its_failure() {
    let store = MemoryStore::new();
    let heard: Arc<Mutex<Vec<(String, bool, Duration)>>> = Arc::default();
    let ends = Arc::clone(&heard);
    let scene = Scene::of(|builder| {
        let journal = Journal::new(store.clone()).record_reads();
        builder.journal(journal.on_no_approver(OnNoApprover::Fail)).listen(move |event| {
            let (failed, elapsed) = match event.kind {
                ToolEventKind::Completed { elapsed, .. } => (false, elapsed),
                ToolEventKind::Failed { elapsed, .. } => (true, elapsed),
                _ => return,
            };
            ends.lock().unwrap().push((event.tool.to_owned(), failed, elapsed));
        })
    });
    let began = Instant::now();
    for (path, end) in [("a.txt", "14"), ("none.txt", "not_found"), ("none.txt", "not_found")] {
        assert!(scene.count(path).await.contains(end), "{path}");
    }
    let whole = began.elapsed();

    let heard = heard.lock().unwrap().clone();
    let ends: Vec<_> = heard.iter().map(|(tool, failed, _)| (tool.as_str(), *failed)).collect();
    assert_eq!(ends, [false, true, true].map(|failed| ("count_characters", failed)));
    let spent: Duration = heard.iter().map(|(.., elapsed)| *elapsed).sum();
    assert!(spent > Duration::ZERO && spent <= whole, "{spent:?} of {whole:?}");

    // A failure is no answer to give again.
    let statistics = scene.cache.statistics();
    assert_eq!((statistics.entries, statistics.hits, scene.runs()), (1, 0, 3));

    let mut records = store.list(&Filter::default(), Page::first(9)).await.unwrap().calls;
    records.sort_by_key(|record| record.id);
    let states: Vec<_> = records.iter().map(|it| it.state).collect();
    assert_eq!(states, [State::Succeeded, State::Failed, State::Failed]);
    assert_eq!(records[0].failures.len(), 0);
    let failure = &records[1].failures[0];
    assert_eq!((failure.attempt, failure.kind.as_str()), (1, "not_found"));
    assert_eq!(failure.message.as_deref(), Some("`none.txt`: no such file or folder"));
    assert!(records.iter().all(|it| it.answer.is_some()));
}

#[tokio::test]
async fn a_hit_is_journalled_as_the_answer_of_a_call_that_never_began() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let scene = Scene::of(|builder| {
        let journal = Journal::new(store.clone()).record_reads();
        builder.journal(journal.on_no_approver(OnNoApprover::Fail)).listen(log.listener())
    });
    assert_eq!([scene.count("a.txt").await, scene.count("a.txt").await], ["14", "14"]);
    assert_eq!((scene.runs(), scene.cache.statistics().hits), (1, 1));
    let mut records = store.list(&Filter::default(), Page::first(9)).await.unwrap().calls;
    records.sort_by_key(|record| record.id);
    let ends: Vec<_> = records.iter().map(|it| (it.state, it.attempt)).collect();
    assert_eq!(ends, [(State::Succeeded, 1), (State::Succeeded, 0)]);
    let told = ["started", "executing", "completed", "started", "cached", "completed"];
    assert_eq!(log.lines(), told);
}
