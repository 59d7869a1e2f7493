//! Every tool that runs a process reports it in one shape, which is data like any other. The processes are real.
#![cfg(unix)]

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::{Call, Executor, ProcessOutput};
use toolwright_toolbox::{RUN_COMMAND, Workspace};

use crate::support::builder;

/// An executor of `run_command` in a folder of its own.
fn runner() -> (TempDir, Executor) {
    let folder = TempDir::new().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let executor = builder([RUN_COMMAND]).service(workspace).build().unwrap();
    (folder, executor)
}

fn script(script: &str) -> Value {
    json!({"program": "sh", "args": ["-c", script], "timeout_seconds": 60})
}

async fn ran(input: &Value) -> Value {
    let (_folder, executor) = runner();
    let answer = executor.call(&Call::new("run_command", input.to_string())).await;
    assert!(!answer.is_error(), "the tool ran, whatever became of the process: {}", answer.text());
    answer.structured().unwrap()
}

/// S2.15: the result of a process has a type of its own.
/// S2.20: it is the shape of every result of a command.
/// S2.35: it is public, so that other tools report the same.
/// S2.45: it says whether the process succeeded.
/// S2.46: it has what the process wrote.
/// S2.48: it has the exit code.
#[tokio::test]
async fn a_process_that_succeeds_reports_success_its_output_and_its_exit_code() {
    assert_eq!(
        ran(&script("echo done")).await,
        json!({"success": true, "output": "done\n", "exit_code": 0, "timed_out": false})
    );
}

/// S2.47: an error is in words, where there is one.
/// S2.53: a process that failed is a result with its error, nothing is thrown.
#[tokio::test]
async fn a_process_that_fails_keeps_its_output_and_says_why() {
    assert_eq!(
        ran(&script("echo 1 test failed >&2; exit 101")).await,
        json!({
            "success": false,
            "output": "1 test failed\n",
            "error": "exit status: 101",
            "exit_code": 101,
            "timed_out": false,
        })
    );
}

#[tokio::test]
async fn a_process_that_a_signal_ends_has_no_exit_code() {
    let ended = ran(&script("kill -9 $$")).await;
    assert_eq!((&ended["success"], &ended["timed_out"]), (&json!(false), &json!(false)));
    assert_eq!(ended.get("exit_code"), None);
    assert!(ended["error"].as_str().unwrap().starts_with("signal: 9"), "{ended}");
}

#[tokio::test]
async fn a_process_whose_time_was_up_has_no_exit_code() {
    let mut slow = script("trap 'exit 0' TERM; echo half; sleep 300 & wait");
    slow["timeout_seconds"] = json!(1);
    let mut ended = ran(&slow).await;
    // The shell may say what became of its `sleep`.
    assert!(ended["output"].as_str().unwrap().starts_with("half\n"), "{ended}");
    ended["output"] = json!("half\n");
    let error = "it took more than 1 seconds and was ended";
    assert_eq!(
        ended,
        json!({"success": false, "output": "half\n", "error": error, "timed_out": true})
    );
}

/// S2.49: the inner result is serialised as JSON and is the data of the answer, so that it can be
/// read back as what it was.
#[tokio::test]
async fn the_inner_result_is_the_data_of_the_answer() {
    let (folder, executor) = runner();
    let inner: ProcessOutput =
        serde_json::from_value(ran(&script("echo a; exit 3")).await).unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let arguments = vec!["-c".to_owned(), "echo a; exit 3".to_owned()];
    let direct =
        toolwright_toolbox::run_command(&workspace, "sh".to_owned(), arguments, ".".to_owned(), 60);
    assert_eq!(inner, direct.await.unwrap());
    let answer = executor.call(&Call::new("run_command", script("true").to_string())).await;
    let text: ProcessOutput = serde_json::from_str(&answer.text()).unwrap();
    assert!(text.success);
    let catalog = executor.catalog();
    let schema = catalog.get("run_command").unwrap().output_schema.as_ref().unwrap();
    assert_eq!(schema["properties"]["success"]["type"], "boolean");
}
