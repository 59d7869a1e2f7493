//! A journalled call that is refused has not begun: it is due again when the reservation expires.

use super::*;

use toolwright::journal::{Filter, Journal, MemoryStore, Page, State, Store as _};
use toolwright::{OnNoApprover, Outcome};

/// A scene with a journal whose clock is tokio's.
fn journalled() -> (Scene, MemoryStore) {
    let (store, began) = (MemoryStore::new(), tokio::time::Instant::now());
    let start: jiff::Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let scene = Scene::of(|builder| {
        builder.journal(Journal::new(store.clone()).on_no_approver(OnNoApprover::Park).clock(
            move || {
                start.checked_add(jiff::SignedDuration::try_from(began.elapsed()).unwrap()).unwrap()
            },
        ))
    });
    (scene, store)
}

/// Twelve times as often as a call may be tried: it is no dead letter, and its one attempt is the first.
#[tokio::test(start_paused = true)]
async fn a_refused_call_spends_no_attempt_and_runs_when_the_holder_is_done() {
    let (scene, store) = journalled();
    let writing = spawned(&scene.run("ada"), of("slow_write", "a"));
    scene.turnstile.entered(1).await;
    let waiting = spawned(&scene.run("bob"), of("quick_write", "a"));
    for _ in 0..12 {
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(!waiting.is_finished());
    }
    scene.turnstile.let_go(1);
    assert_eq!(kind(&writing.await.unwrap()), "ok");
    assert_eq!(waiting.await.unwrap().text(), "wrote a");
    assert!(scene.held().is_empty());
    let records = store.list(&Filter::default(), Page::first(9)).await.unwrap().calls;
    let record = records.iter().find(|it| it.place.run == "bob").unwrap();
    assert_eq!((record.state, record.attempt, record.failures.len()), (State::Succeeded, 1, 0));
}

/// Whoever does not wait is told; a worker carries the call out when the time is over.
#[tokio::test(start_paused = true)]
async fn a_refused_call_that_was_submitted_is_carried_out_when_it_is_due() {
    let (scene, _store) = journalled();
    scene.reservations.reserve("ada", &write("a")).unwrap();
    tokio::time::advance(Duration::from_secs(10)).await;
    let bob = scene.run("bob");
    let call = of("quick_write", "a");
    let (outcome, worker) = (bob.submit(&call).await, bob.worker().unwrap());
    let outcome = match outcome {
        Outcome::Suspended(waits) => {
            assert_eq!(waits.state, State::Ready);
            tokio::time::sleep(Duration::from_secs(49)).await;
            assert!(worker.sweep().await.unwrap().is_nothing(), "ada still holds it");
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert_eq!(worker.sweep().await.unwrap().gone_on, 1);
            worker.resume(waits.call).await
        }
        other => other,
    };
    let Outcome::Answered(answer) = outcome else { panic!("{outcome:?}") };
    assert_eq!(answer.text(), "wrote a");
    assert!(scene.held().is_empty());
}

/// What it was refused for stands in its history.
#[tokio::test(start_paused = true)]
async fn the_history_of_a_refused_call_names_resource_and_holder() {
    let (scene, store) = journalled();
    scene.reservations.reserve("ada", &write("a")).unwrap();
    assert_eq!(kind(&answer(&scene.run("bob"), of("quick_write", "./a")).await), "ok");
    let record = store.list(&Filter::default(), Page::first(9)).await.unwrap().calls.remove(0);
    let history = store.history(record.id).await.unwrap();
    let told = format!("{history:?}");
    assert!(told.contains("reserved") && told.contains("`a`") && told.contains("`ada`"), "{told}");
    assert_eq!(history.iter().filter(|it| it.to == State::Running).count(), 1);
}
