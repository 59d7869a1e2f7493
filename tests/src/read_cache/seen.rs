//! A call that is answered from the cache is a call like any other: policy, listeners and journal see it.

use super::*;

use toolwright::journal::MemoryStore;
use toolwright::policy::Policy;
use toolwright::{Executor, OnNoApprover, Registry};

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
        .around(cache.clone())
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

#[tokio::test]
async fn a_hit_is_journalled_as_an_answer() {
    let scene = Scene::of(|it| it.journal(MemoryStore::new()).on_no_approver(OnNoApprover::Fail));
    assert_eq!(scene.count("a.txt").await, "14");
    assert_eq!(scene.count("a.txt").await, "14");
    assert_eq!((scene.runs(), scene.cache.statistics().hits), (1, 1));
}
