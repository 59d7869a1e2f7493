//! Workers: schedules make tasks, a worker claims one, and a terminal tool ends it.

use std::sync::Arc;

use jiff::Timestamp;
use knowledge::{Worker, builder};
use toolwright_agent::{ModelError, ScriptedModel};

use crate::support::{Shelf, asked};

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

const NOON: &str = "2026-11-25T12:00:00Z";

fn worker(shelf: &Shelf, model: &Arc<ScriptedModel>) -> Worker {
    let builder = builder(shelf.library(), None).unwrap();
    Worker::new(shelf.library(), builder, Arc::clone(model) as _, at(NOON)).unwrap()
}

async fn step(worker: &Worker, now: &str) -> (bool, String) {
    let mut out = Vec::new();
    let has_worked = worker.step(at(now), &mut out).await.unwrap();
    (has_worked, String::from_utf8(out).unwrap())
}

fn task(id: &str, more: &str) -> String {
    format!("---\nid: {id} # stays\nstatus: pending\n{more}---\nDo {id}.\n")
}

/// S0.35
#[tokio::test]
async fn a_terminal_tool_moves_the_task_out_of_progress() {
    let table = [
        (
            "complete_task",
            r#"{"summary":"It is: done"}"#,
            "status: complete\n",
            "output: \"It is: done\"\n",
        ),
        ("fail_task", r#"{"reason":"No tea"}"#, "status: failed\n", "output: \"No tea\"\n"),
        (
            "wait_task",
            r#"{"reason":"No tea"}"#,
            "status: waiting\n",
            "waiting_reason: \"No tea\"\n",
        ),
    ];
    for (tool, input, status, words) in table {
        let shelf = Shelf::new();
        shelf.put("tasks/tea.md", task("t1", ""));
        let model = Arc::new(ScriptedModel::new().calls([(tool, input)]));
        let worker = worker(&shelf, &model);
        let (has_worked, out) = step(&worker, NOON).await;
        assert!(has_worked && out.starts_with("claimed `tea`\n"), "{out}");
        let text = shelf.text("tasks/tea.md");
        assert!(
            text.starts_with("---\nid: t1 # stays\n") && text.ends_with("---\nDo t1.\n"),
            "{text}"
        );
        assert!(text.contains(status) && text.contains(words), "{text}");
        assert!(!step(&worker, NOON).await.0, "an ended task is not claimed");
        assert!(asked(&model, 0).contains("Do t1."));
    }
}

#[tokio::test]
async fn a_task_waits_for_those_before_it_and_reads_what_they_came_to_and_urgent_ones_come_first() {
    let shelf = Shelf::new();
    shelf.put("tasks/a.md", task("t1", "blocked_by: [t3]\npriority: high\n"));
    shelf.put("tasks/b.md", task("t2", ""));
    shelf.put("tasks/c.md", task("t3", "priority: high\n"));
    let done = |what: &str| format!(r#"{{"summary":"{what}"}}"#);
    let model = ScriptedModel::new()
        .calls([("complete_task", &*done("tea is bought"))])
        .calls([("complete_task", &*done("it was drunk"))])
        .calls([("complete_task", &*done("all"))]);
    let model = Arc::new(model);
    let worker = worker(&shelf, &model);
    for expected in ["c", "a", "b"] {
        let (_, out) = step(&worker, NOON).await;
        assert!(out.starts_with(&format!("claimed `{expected}`")), "{out}");
    }
    assert!(asked(&model, 1).contains("tea is bought"));
}

#[tokio::test]
async fn a_task_that_no_tool_ends_has_failed_and_one_whose_model_failed_is_pending_again() {
    let shelf = Shelf::new();
    shelf.put("tasks/tea.md", task("t1", ""));
    let model = ScriptedModel::new()
        .fails(ModelError::new("unavailable", "down"))
        .says("I am done, I think.");
    let worker = worker(&shelf, &Arc::new(model));
    assert!(worker.step(at(NOON), &mut Vec::new()).await.is_err());
    assert_eq!(shelf.text("tasks/tea.md"), task("t1", ""));
    let (_, out) = step(&worker, NOON).await;
    assert!(out.contains("`tea` failed: the agent stopped without saying"), "{out}");
    assert!(shelf.text("tasks/tea.md").contains("status: failed\n"));
}

#[tokio::test]
async fn a_task_is_claimed_by_one_worker_and_comes_back_when_that_is_gone() {
    let shelf = Shelf::new();
    shelf.put("tasks/tea.md", task("t1", ""));
    let hanging = Arc::new(ScriptedModel::new().hangs());
    let done = ScriptedModel::new().calls([("complete_task", r#"{"summary":"done"}"#)]);
    let (one, other) = (worker(&shelf, &hanging), worker(&shelf, &Arc::new(done)));
    let mut out = Vec::new();
    let mut working = Box::pin(one.step(at(NOON), &mut out));
    // It is polled until it has claimed the task, and waits for its model.
    while hanging.requests().is_empty() {
        assert!(futures::poll!(&mut working).is_pending());
        tokio::task::yield_now().await;
    }
    assert!(!step(&other, NOON).await.0, "the task has a worker that lives");
    drop(working);
    drop(one);
    assert!(step(&other, NOON).await.0);
    assert!(shelf.text("tasks/tea.md").contains("status: complete\n"));
}

#[tokio::test]
async fn a_schedule_makes_one_task_for_its_latest_time_and_reports_missed_times_once() {
    let shelf = Shelf::new();
    shelf.put(
        "schedules/daily.md",
        "---\nid: s1\ncron: 0 9 * * *\nenabled: true\n---\nLook at the mails.\n",
    );
    shelf.put("schedules/off.md", "---\nid: s2\ncron: 0 9 * * *\n---\nNever.\n");
    let done = r#"{"summary":"done"}"#;
    let model =
        ScriptedModel::new().calls([("complete_task", done)]).calls([("complete_task", done)]);
    let worker = worker(&shelf, &Arc::new(model));
    assert_eq!(
        step(&worker, "2026-11-25T10:00:00Z").await,
        (false, String::new()),
        "it begins now"
    );
    assert!(!step(&worker, "2026-11-26T08:59:59Z").await.0);
    let (_, out) = step(&worker, "2026-11-26T09:00:00Z").await;
    assert!(out.starts_with("made `daily-20261126T0900`\nclaimed"), "{out}");
    let (_, out) = step(&worker, "2026-11-30T08:00:00Z").await;
    assert!(out.starts_with("made `daily-20261129T0900`; 2 earlier times were missed\n"), "{out}");
    let text = shelf.text("tasks/daily-20261129T0900.md");
    assert!(
        text.contains("Look at the mails.\n\n2 earlier times of the schedule were missed.\n"),
        "{text}"
    );
    assert_eq!(step(&worker, "2026-11-30T08:00:01Z").await, (false, String::new()));
}

#[tokio::test]
async fn two_workers_make_one_task_of_one_time() {
    let shelf = Shelf::new();
    shelf.put("schedules/daily.md", "---\nid: s1\ncron: 0 9 * * *\nenabled: true\n---\nLook.\n");
    let down = || ModelError::new("unavailable", "down");
    let model = Arc::new(ScriptedModel::new().fails(down()).fails(down()));
    let workers = [worker(&shelf, &model), worker(&shelf, &model)];
    for worker in &workers {
        step(worker, "2026-11-25T10:00:00Z").await;
    }
    shelf.put("tasks/other.md", task("t1", "").replace("pending", "waiting"));
    let made = workers.map(|worker| async move {
        let mut out = Vec::new();
        let _ = worker.step(at("2026-11-26T10:00:00Z"), &mut out).await;
        String::from_utf8(out).unwrap()
    });
    let made = futures::future::join_all(made).await.concat();
    assert_eq!(made.matches("made `daily-20261126T0900`").count(), 1, "{made}");
}
