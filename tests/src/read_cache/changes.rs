//! Whatever may have changed a resource makes the cache forget what was read of it.

use super::*;

use futures::FutureExt as _;

use crate::support::Turnstile;

/// Writes a file when it is let go, without touching it: what the stamp of the file cannot show.
#[tool(unlinked, effect = idempotent, writes(file = path), timeout = none)]
async fn seem_to_write(
    turnstile: &Turnstile,
    /// Which.
    path: String,
    /// How it ends: `ok`, `fail` or `panic`.
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

/// Success and failure there; here whichever way it ends, and already when it begins.
#[tokio::test]
async fn a_write_is_seen_when_it_begins_and_when_it_ends_however_it_ends() {
    let turnstile = Turnstile::new();
    let scene = Scene::new();
    let writer = builder([SEEM_TO_WRITE])
        .service_arc(turnstile.clone())
        .middleware(scene.cache.clone())
        .build()
        .unwrap();
    for end in ["ok", "fail", "panic", "drop"] {
        scene.count("a.txt").await;
        scene.count("b.txt").await;
        scene.runs();
        let arguments = json!({"path": "./a.txt", "end": end}).to_string();
        let write = Call::new("seem_to_write", arguments);
        let mut writing = Box::pin(writer.call(&write));
        assert!(writing.as_mut().now_or_never().is_none());
        turnstile.entered(1).await;
        // It is read while it is written, and that is not remembered.
        scene.count("a.txt").await;
        scene.count("a.txt").await;
        scene.count("b.txt").await;
        assert_eq!(scene.runs(), 2, "{end}");
        if end == "drop" {
            drop(writing);
        } else {
            turnstile.let_go(1);
            writing.await;
        }
        scene.count("a.txt").await;
        scene.count("a.txt").await;
        scene.count("b.txt").await;
        assert_eq!(scene.runs(), 1, "{end}");
    }
}

#[tokio::test]
async fn an_edit_is_read_back() {
    let scene = Scene::new();
    let read = || call(&scene.executor, "read_file", json!({"path": "a.txt"}));
    assert!(read().await.text().contains("two"));
    let arguments = json!({"path": "./a.txt", "old_string": "two", "new_string": "2"});
    assert_eq!(kind(&call(&scene.executor, "edit_file", arguments).await), "ok");
    assert!(!read().await.text().contains("two"));
}

/// A command was not seen there.
#[tokio::test]
async fn a_command_may_change_every_file() {
    let scene = Scene::new();
    scene.count("a.txt").await;
    scene.count("b.txt").await;
    let command = json!({"program": "true"});
    assert_eq!(kind(&call(&scene.executor, "run_command", command).await), "ok");
    scene.count("a.txt").await;
    scene.count("b.txt").await;
    assert_eq!(scene.runs(), 4);
}

/// Neither was a change from outside.
#[tokio::test]
async fn a_change_from_outside_is_seen() {
    let scene = Scene::new();
    assert_eq!(scene.count("a.txt").await, "14");
    write_long_ago(&scene.path("a.txt"), "another");
    assert_eq!(scene.count("a.txt").await, "7");
    fs::remove_file(scene.path("a.txt")).unwrap();
    assert!(scene.count("a.txt").await.contains("not_found"));
}

/// Reads a file, which somebody changes at that moment.
#[tool(unlinked, effect = read, reads(file = path))]
async fn read_and_lose(
    workspace: &Workspace,
    runs: &Runs,
    /// Which file.
    path: String,
) -> Result<String, ToolError> {
    let text = workspace.read_text(&path)?;
    if runs.0.fetch_add(1, SeqCst) == 0 {
        write_long_ago(&workspace.root().join(&path), "another");
    }
    Ok(text)
}

#[tokio::test]
async fn a_file_that_changes_while_it_is_read_is_read_again() {
    let scene = Scene::new();
    let runs = Arc::new(Runs::default());
    let executor = builder([READ_AND_LOSE])
        .service(Workspace::open(scene.folder.path()).unwrap())
        .service_arc(runs.clone())
        .middleware(scene.cache.clone())
        .build()
        .unwrap();
    let read = || call(&executor, "read_and_lose", json!({"path": "b.txt"}));
    assert_eq!(read().await.text(), "four\n");
    assert_eq!([read().await.text(), read().await.text()], ["another", "another"]);
    assert_eq!(runs.0.load(SeqCst), 2);
}

/// The number of the file gives it away.
#[tokio::test]
#[cfg(unix)]
async fn a_file_that_is_replaced_by_one_of_equal_size_and_time_is_read_again() {
    let scene = Scene::new();
    let before = call(&scene.executor, "read_file", json!({"path": "b.txt"})).await.into_text();
    let modified = fs::metadata(scene.path("b.txt")).unwrap().modified().unwrap();
    fs::write(scene.path("c.txt"), "five\n").unwrap();
    set_modified(&scene.path("c.txt"), modified);
    fs::rename(scene.path("c.txt"), scene.path("b.txt")).unwrap();
    let after = call(&scene.executor, "read_file", json!({"path": "b.txt"})).await.into_text();
    assert!(before.contains("four") && after.contains("five"), "{after}");
}

/// A clock that is set back makes nothing older, and one that is set ahead nothing newer.
#[tokio::test]
async fn a_file_from_the_future_is_read_again_when_it_changes() {
    let scene = Scene::new();
    let tomorrow = SystemTime::now() + Duration::from_secs(86_400);
    set_modified(&scene.path("a.txt"), tomorrow);
    assert_eq!([scene.count("a.txt").await, scene.count("a.txt").await], ["14", "14"]);
    assert_eq!(scene.runs(), 1);
    write_long_ago(&scene.path("a.txt"), "another");
    assert_eq!(scene.count("a.txt").await, "7");
}

/// What was written just now may be written again without another time.
#[tokio::test]
async fn a_fresh_file_is_not_remembered() {
    let scene = Scene::new();
    fs::write(scene.path("a.txt"), "one").unwrap();
    assert_eq!(scene.count("a.txt").await, "3");
    fs::write(scene.path("a.txt"), "two").unwrap();
    assert_eq!(scene.count("a.txt").await, "3");
    assert_eq!((scene.runs(), scene.cache.statistics().entries), (2, 0));
}
