//! A read is answered from the cache as long as nothing of what it has read may have changed.

mod changes;
mod left_out;
mod seen;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, SystemTime};

use serde_json::json;
use tempfile::TempDir;
use toolwright::{Answer, Call, Executor, ExecutorBuilder, Handle, ToolError, tool};
use toolwright_middleware::ReadCache;
use toolwright_toolbox::{
    EDIT_FILE, GREP, LIST_FILES, READ_FILE, RUN_COMMAND, WRITE_FILE, Workspace,
};

use crate::support::{builder, kind};

/// How often the tool was run.
#[derive(Default)]
struct Runs(AtomicU32);

/// Counts the characters of a file.
#[tool(unlinked, effect = read, reads(file = path), blocking)]
fn count_characters(
    workspace: &Workspace,
    runs: &Runs,
    /// Which file.
    path: String,
    /// From which character on.
    #[arg(default = 0)]
    from: usize,
) -> Result<usize, ToolError> {
    runs.0.fetch_add(1, SeqCst);
    Ok(workspace.read_text(&path)?.chars().count() - from)
}

const TOOLS: [Handle; 7] =
    [COUNT_CHARACTERS, READ_FILE, WRITE_FILE, EDIT_FILE, LIST_FILES, GREP, RUN_COMMAND];

/// A folder with two files that were written an hour ago, and an executor with a cache.
struct Scene {
    folder: TempDir,
    cache: ReadCache,
    runs: Arc<Runs>,
    executor: Executor,
}

impl Scene {
    fn new() -> Self {
        Self::of(|builder| builder)
    }

    fn of(more: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder) -> Self {
        let (folder, cache, runs) =
            (tempfile::tempdir().unwrap(), ReadCache::new(), Arc::default());
        let folder: TempDir = folder;
        write_long_ago(&folder.path().join("a.txt"), "one\ntwo\nthree\n");
        write_long_ago(&folder.path().join("b.txt"), "four\n");
        let executor = more(in_folder(&folder, &runs).middleware(cache.clone())).build().unwrap();
        Self { folder, cache, runs, executor }
    }

    async fn count(&self, path: &str) -> String {
        call(&self.executor, "count_characters", json!({"path": path})).await.text().into_owned()
    }

    /// How often the tool was run since it was last asked.
    fn runs(&self) -> u32 {
        self.runs.0.swap(0, SeqCst)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }
}

fn in_folder(folder: &TempDir, runs: &Arc<Runs>) -> ExecutorBuilder {
    let workspace = Workspace::open(folder.path()).unwrap();
    builder(TOOLS).service(workspace).service_arc(Arc::clone(runs))
}

async fn call(executor: &Executor, tool: &'static str, arguments: serde_json::Value) -> Answer {
    executor.call(&Call::new(tool, arguments.to_string())).await
}

/// What a file was an hour ago; what was written just now is not taken for unchanged.
fn write_long_ago(path: &Path, content: &str) {
    fs::write(path, content).unwrap();
    set_modified(path, SystemTime::now() - Duration::from_secs(3600));
}

fn set_modified(path: &Path, time: SystemTime) {
    fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Reads consult the cache first; S1.66. Nothing was ever cached there, because tools answer with plain text.
#[tokio::test]
async fn an_unchanged_file_is_read_once() {
    let scene = Scene::new();
    for _ in 0..3 {
        assert_eq!(scene.count("a.txt").await, "14");
    }
    assert_eq!(scene.runs(), 1);
    let statistics = scene.cache.statistics();
    assert_eq!((statistics.hits, statistics.misses, statistics.entries), (2, 1, 1));
}

#[tokio::test]
async fn the_toolbox_reads_a_file_once() {
    let scene = Scene::new();
    let mut answers = Vec::new();
    for _ in 0..2 {
        answers
            .push(call(&scene.executor, "read_file", json!({"path": "a.txt"})).await.into_text());
    }
    assert!(answers[0].contains("three") && answers[0] == answers[1]);
    assert_eq!(scene.cache.statistics().hits, 1);
}

/// A cached read answered with the whole file there, because the key ignored the lines that were asked for.
#[tokio::test]
async fn a_part_of_a_file_has_an_answer_of_its_own() {
    let scene = Scene::new();
    let read = |offset: u32, limit: u32| {
        let arguments = json!({"path": "a.txt", "offset": offset, "limit": limit});
        let executor = scene.executor.clone();
        async move { call(&executor, "read_file", arguments).await.into_text() }
    };
    let whole = read(1, 2000).await;
    for _ in 0..2 {
        let part = read(2, 1).await;
        assert!(part.contains("two") && !part.contains("one") && !part.contains("three"), "{part}");
    }
    assert_eq!(read(1, 2000).await, whole);
    assert_eq!(scene.cache.statistics().hits, 2);
}

/// The arguments in one form: order, white space, defaults and spellings of a number do not matter.
#[tokio::test]
async fn one_call_is_one_entry_however_its_arguments_are_written() {
    let scene = Scene::new();
    for arguments in [
        r#"{"path":"a.txt"}"#,
        r#"{"path": "a.txt", "from": 0}"#,
        r#"{"from":0,"path":"a.txt"}"#,
        r#"{"path":"a.txt","from":"0"}"#,
    ] {
        let answer = scene.executor.call(&Call::new("count_characters", arguments)).await;
        assert_eq!(answer.text(), "14");
    }
    assert_eq!(scene.runs(), 1);
    assert_eq!(
        call(&scene.executor, "count_characters", json!({"path": "a.txt", "from": 4})).await.text(),
        "10"
    );
    assert_eq!(scene.runs(), 1);
}

/// What was repaired was repaired in the input of another call.
#[tokio::test]
async fn an_answer_is_given_again_without_the_repairs_of_the_first_call() {
    let scene = Scene::new();
    let repaired = call(&scene.executor, "count_characters", json!({"path": "a.txt", "from": "4"}));
    assert!(repaired.await.repairs().is_some());
    let again =
        call(&scene.executor, "count_characters", json!({"path": "a.txt", "from": 4})).await;
    assert_eq!((again.text().as_ref(), scene.runs()), ("10", 1));
    assert!(again.repairs().is_none());
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_forgotten_after_five_minutes() {
    let scene = Scene::new();
    scene.count("a.txt").await;
    tokio::time::advance(Duration::from_secs(299)).await;
    scene.count("a.txt").await;
    assert_eq!(scene.runs(), 1);
    tokio::time::advance(Duration::from_secs(1)).await;
    scene.count("a.txt").await;
    assert_eq!((scene.runs(), scene.cache.statistics().expirations), (1, 1));
}

#[tokio::test]
async fn the_cache_can_be_cleared() {
    let scene = Scene::new();
    scene.count("a.txt").await;
    scene.cache.clear();
    scene.count("a.txt").await;
    assert_eq!(scene.runs(), 2);
    assert_eq!(
        kind(&call(&scene.executor, "read_file", json!({"path": "none"})).await),
        "not_found"
    );
}

/// As many workers share what was read there. A workspace says which files it has.
#[tokio::test]
async fn executors_share_answers_of_services_that_are_declared_constant() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in [&folder, &other] {
        write_long_ago(&folder.path().join("a.txt"), "one");
    }
    write_long_ago(&other.path().join("a.txt"), "three");
    for (is_constant, expected) in [(true, 1), (false, 2)] {
        let (runs, cache) = (Arc::default(), ReadCache::new());
        let constant = cache.clone().constant::<Workspace>().constant::<Runs>();
        let of = |folder| {
            let cache = if is_constant { constant.clone() } else { cache.clone() };
            in_folder(folder, &runs).middleware(cache).build().unwrap()
        };
        let (ada, bob, eve) = (of(&folder), of(&folder), of(&other));
        for executor in [&ada, &bob, &ada, &bob] {
            let answer = call(executor, "count_characters", json!({"path": "a.txt"})).await;
            assert_eq!(answer.text(), "3");
        }
        assert_eq!(runs.0.swap(0, SeqCst), expected, "constant: {is_constant}");
        let answer = call(&eve, "count_characters", json!({"path": "a.txt"})).await;
        assert_eq!(answer.text(), "5", "it is another workspace");
        // What one of them writes, the others see.
        let arguments = json!({"path": "a.txt", "content": "seven"});
        assert_eq!(kind(&call(&bob, "write_file", arguments).await), "ok");
        assert_eq!(cache.statistics().invalidations, u64::from(expected), "of the one folder");
        write_long_ago(&folder.path().join("a.txt"), "one");
    }
}
