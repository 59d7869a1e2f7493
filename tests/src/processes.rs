//! Every tool that runs a process reports it in one shape, which is data like any other.

use serde_json::json;
use toolwright::{Call, ProcessOutput, tool};

use crate::support::executor;

/// Pretends to run a command.
#[tool]
async fn run_command(
    /// The command.
    command: String,
) -> ProcessOutput {
    match command.as_str() {
        "ok" => ProcessOutput {
            success: true,
            output: "done".to_owned(),
            exit_code: Some(0),
            ..ProcessOutput::default()
        },
        "slow" => {
            ProcessOutput { timed_out: true, output: "half".to_owned(), ..Default::default() }
        }
        _ => ProcessOutput {
            output: "1 test failed".to_owned(),
            error: Some("exit code 101".to_owned()),
            exit_code: Some(101),
            ..Default::default()
        },
    }
}

async fn ran(command: &str) -> serde_json::Value {
    let arguments = json!({"command": command}).to_string();
    let answer = executor([RUN_COMMAND]).call(&Call::new("run_command", arguments)).await;
    assert!(!answer.is_error(), "the tool ran, whatever became of the process");
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
        ran("ok").await,
        json!({"success": true, "output": "done", "exit_code": 0, "timed_out": false})
    );
}

/// S2.47: an error is in words, where there is one.
/// S2.53: a process that failed is a result with its error, nothing is thrown.
#[tokio::test]
async fn a_process_that_fails_keeps_its_output_and_says_why() {
    assert_eq!(
        ran("fail").await,
        json!({
            "success": false,
            "output": "1 test failed",
            "error": "exit code 101",
            "exit_code": 101,
            "timed_out": false,
        })
    );
}

#[tokio::test]
async fn a_process_whose_time_was_up_has_no_exit_code() {
    assert_eq!(ran("slow").await, json!({"success": false, "output": "half", "timed_out": true}));
}

/// S2.49: the inner result is serialised as JSON and is the data of the answer, so that it can be
/// read back as what it was.
#[tokio::test]
async fn the_inner_result_is_the_data_of_the_answer() {
    let inner: ProcessOutput = serde_json::from_value(ran("fail").await).unwrap();
    assert_eq!(inner, run_command("fail".to_owned()).await);
    let answer =
        executor([RUN_COMMAND]).call(&Call::new("run_command", r#"{"command":"ok"}"#)).await;
    let text: ProcessOutput = serde_json::from_str(&answer.text()).unwrap();
    assert!(text.success);
    let schema = executor([RUN_COMMAND]);
    let catalog = schema.catalog();
    let schema = catalog.get("run_command").unwrap().output_schema.as_ref().unwrap();
    assert_eq!(schema["properties"]["success"]["type"], "boolean");
}
