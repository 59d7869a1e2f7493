//! `--agents`: the model gives tasks to a researcher and a reviewer, who work on the real crate with a part of its tools.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::{Ran, coder, own, run};

const TASK: &str = "find out why and fix it";

fn offline(words: &[&str]) -> Ran {
    run(coder(&[&["run", TASK, "--offline", "--agents"], words].concat()))
}

/// The tools of each request, by who made it: the system text names the agent.
fn shown(recording: &str) -> Vec<(String, BTreeSet<String>)> {
    let requests = recording.lines().skip(1).map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let body = &line["request"]["body"];
        let system = body["system"].as_str().unwrap().to_owned();
        let agent = system.strip_prefix("You are the agent `").and_then(|it| it.split('`').next());
        let tools = body["tools"].as_array().unwrap().iter();
        let tools = tools.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
        (agent.unwrap_or("coder").to_owned(), tools)
    });
    requests.collect()
}

#[test]
fn a_researcher_and_a_reviewer_work_on_a_real_crate_with_a_part_of_the_tools() {
    let ran = offline(&[]);
    let end = ran.end();
    assert_eq!((ran.code, &end["tool"]), (0, &json!("complete_task")), "{}", ran.err);
    // What the others were asked counts for the run.
    assert_eq!((&end["turns"], &end["tokens"]["output"]), (&json!(5), &json!(880)), "{end}");
    let lines = |begin: &str| ran.err.lines().filter(|line| line.starts_with(begin)).count();
    assert_eq!((lines("[researcher "), lines("[reviewer ")), (10, 8), "{}", ran.err);
    assert!(ran.err.contains("[researcher 1] call    grep"), "{}", ran.err);
    assert!(ran.err.contains("[reviewer 2] call    run_command"), "{}", ran.err);
    assert!(ran.err.contains("test result: FAILED. 87 passed; 1 failed"), "{}", ran.err);
    assert!(ran.err.contains("edit_file"), "{}", ran.err);

    let recording = fs::read_to_string(own("recordings/anthropic-agents.jsonl")).unwrap();
    // What the reviewer's tests said is in its next request.
    assert!(recording.contains("test result: ok. 88 passed; 0 failed"));
    for (agent, tools) in shown(&recording) {
        let has = |tool: &str| tools.contains(tool);
        let (edits, runs) = (has("edit_file"), has("run_command"));
        match agent.as_str() {
            "researcher" => assert!(!edits && !runs && has("grep"), "{tools:?}"),
            "reviewer" => assert!(!edits && runs && has("read_file"), "{tools:?}"),
            _ => assert!(edits && has("spawn_agent"), "{agent}: {tools:?}"),
        }
        assert_eq!(has("spawn_agent"), agent == "coder", "{agent}");
    }
}

#[test]
fn a_recording_with_agents_made_anew_is_the_one_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new.jsonl");
    let ran = offline(&["--record", file.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let made = fs::read_to_string(file).unwrap();
    let there = fs::read_to_string(own("recordings/anthropic-agents.jsonl")).unwrap();
    assert!(made == there, "the recording is another");
}

#[test]
fn agents_are_of_the_provider_that_was_recorded_with_them() {
    let ran = offline(&["--provider", "gemini"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err.contains("the only recorded run with other agents is of anthropic"),
        "{}",
        ran.err
    );
}
