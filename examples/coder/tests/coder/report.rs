//! `--report`: the run ends in a typed report of what it changed.

use serde_json::json;

use crate::{coder, own, run};

const TASK: &str = "make the tests pass";

#[test]
fn a_run_ends_in_a_report_of_the_files_that_it_changed() {
    let ran = run(coder(&["run", TASK, "--offline", "--report"]));
    let end = ran.end();
    assert_eq!((ran.code, &end["ended"]), (0, &json!("output")), "{}", ran.err);
    // What `jq .files` prints.
    let files = end["files"].as_array().unwrap();
    assert_eq!((files.len(), &files[0]["path"]), (1, &json!("src/lib.rs")), "{end}");
    assert!(end["summary"].as_str().unwrap().contains("generic_hamming"), "{end}");
    assert!(ran.err.contains("test result: ok. 88 passed; 0 failed"), "{}", ran.err);
    assert!(ran.err.contains("[6] answer  final_answer"), "{}", ran.err);
}

#[test]
fn a_recording_of_a_report_made_anew_is_the_one_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new.jsonl");
    let ran =
        run(coder(&["run", TASK, "--offline", "--report", "--record", file.to_str().unwrap()]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let made = std::fs::read_to_string(file).unwrap();
    let there = std::fs::read_to_string(own("recordings/anthropic-report.jsonl")).unwrap();
    assert!(made == there, "the recording is another");
}

#[test]
fn a_report_of_another_provider_or_of_a_recorded_run_is_refused_with_what_to_do() {
    for (words, said) in [
        (
            &["--offline", "--provider", "gemini"][..],
            "the only recorded run with a report is of anthropic",
        ),
        (&["--run", "r1"], "cannot be used with"),
        (&["--offline", "--mcp", "servers.toml"], "cannot be used with"),
    ] {
        let ran = run(coder(&[&["run", TASK, "--report"], words].concat()));
        assert_eq!(ran.code, 2, "{words:?}: {}", ran.err);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
}
