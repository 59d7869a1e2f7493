//! `--offline`: a recorded model makes the tests of a real crate pass, and its own tests judge that.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use serde_json::json;
use tempfile::TempDir;
use toolwright_agent::testing::Placeholders;

use crate::{Ran, coder, own, run};

const TASK: &str = "make the tests pass";

fn offline(words: &[&str]) -> Ran {
    run(coder(&[&["run", TASK, "--offline"], words].concat()))
}

/// The transcript without what differs between runs.
fn transcript(ran: &Ran) -> String {
    let folder = ran.err.strip_prefix("folder: ").and_then(|it| it.split_whitespace().next());
    let folder = folder.unwrap_or_else(|| panic!("{}", ran.err));
    Placeholders::standard().value("folder", folder).recorded(&ran.err)
}

/// What the recorded runs took.
fn tokens() -> serde_json::Value {
    json!({"input": 18300, "output": 480})
}

/// The run of the README, and the folder in which its caller builds.
fn of_the_readme() -> &'static (Ran, TempDir) {
    static RAN: LazyLock<(Ran, TempDir)> = LazyLock::new(|| {
        let target = tempfile::tempdir().unwrap();
        let mut command = coder(&["run", TASK, "--offline"]);
        command.env("CARGO_TARGET_DIR", target.path());
        (run(command), target)
    });
    &RAN
}

/// The agent looks, edits and runs tests, each by a tool, until they pass.
#[test]
fn the_tests_of_a_real_crate_pass_with_each_provider() {
    let mut transcripts = Vec::new();
    let others = ["openai-chat", "openai-responses", "gemini"];
    let others = others.map(|provider| (provider, offline(&["--provider", provider])));
    let others = others.iter().map(|(provider, ran)| (*provider, ran));
    let costs = ["$0.0621", "$0.038745", "$0.038745", "$0.027675"];
    let runs = std::iter::once(("anthropic", &of_the_readme().0)).chain(others);
    for ((provider, ran), cost) in runs.zip(costs) {
        let end = ran.end();
        assert_eq!((&end["tokens"], &end["cost"]), (&tokens(), &json!(cost)), "{provider}");
        assert_eq!(
            (ran.code, &end["ended"], &end["tool"], &end["provider"]),
            (0, &json!("terminal"), &json!("complete_task"), &json!(provider)),
            "{}",
            ran.err
        );
        assert!(
            ran.out.starts_with(r#"{"ended":"terminal","tool":"complete_task","#),
            "{}",
            ran.out
        );
        assert!(ran.err.contains("test result: FAILED. 87 passed; 1 failed"), "{}", ran.err);
        assert!(ran.err.contains("test result: ok. 88 passed; 0 failed"), "{}", ran.err);
        transcripts.push(transcript(ran));
    }
    for other in &transcripts[1..] {
        assert_eq!(&transcripts[0], other, "the history is of no provider");
    }
}

#[test]
fn the_readme_shows_the_transcript() {
    let readme = fs::read_to_string(own("README.md")).unwrap();
    let (_, block) = readme.split_once("```console\n").expect("a block");
    let (block, _) = block.split_once("```").expect("its end");
    let (line, shown) = block.split_once('\n').unwrap();
    assert_eq!(line, format!("$ cargo run -p coder -- run \"{TASK}\" --offline"));
    let ran = &of_the_readme().0;
    // On a busy machine the first of the two reads may have ended before the second begins.
    let out = ran.out.replace(r#""at_once":1,"#, r#""at_once":2,"#);
    assert_eq!(format!("{}{out}", transcript(ran)), shown);
}

#[test]
fn a_copy_that_is_kept_passes_its_own_tests_and_any_other_is_gone() {
    let ran = offline(&["--keep"]);
    let end = ran.end();
    let folder = Path::new(end["folder"].as_str().unwrap());
    let mut cargo = Command::new(env!("CARGO"));
    let tested =
        cargo.args(["test", "--offline"]).current_dir(folder).env_remove("CARGO_TARGET_DIR");
    let tested = tested.output().unwrap();
    let printed = String::from_utf8_lossy(&tested.stdout);
    assert!(tested.status.success() && printed.contains("88 passed; 0 failed"), "{printed}");
    fs::remove_dir_all(folder).unwrap();

    let gone = &of_the_readme().0;
    let folder = gone.err.strip_prefix("folder: ").and_then(|it| it.split_whitespace().next());
    assert!(!Path::new(folder.unwrap()).exists(), "{}", gone.err);
    assert_eq!(gone.end().get("folder"), None);
}

#[test]
fn nothing_is_built_where_the_caller_builds() {
    let (ran, target) = of_the_readme();
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0);
}

#[test]
fn a_changed_request_is_refused_with_its_first_difference() {
    let ran = run(coder(&["run", "make the tests fail", "--offline"]));
    let end = ran.end();
    assert_eq!((ran.code, &end["ended"]), (1, &json!("model_failed")));
    let message = end["message"].as_str().unwrap();
    let expected = "request 1 differs from the recorded one at /messages/0/content: recorded \"make the tests pass\", received \"make the tests fail\"";
    assert!(message.contains(expected), "{message}");
    let other = run(coder(&["run", TASK, "--offline", "--model", "another"]));
    assert!(other.out.contains("at /model: recorded"), "{}", other.out);
}

#[test]
fn a_recording_made_anew_is_the_one_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new.jsonl");
    let ran = offline(&["--provider", "openai-chat", "--record", file.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let made = fs::read_to_string(file).unwrap();
    let there = fs::read_to_string(own("recordings/openai-chat.jsonl")).unwrap();
    assert!(made == there, "the recording is another");
}

#[test]
fn the_transcript_is_lines_of_json_where_that_is_asked_for() {
    let ran = offline(&["--json"]);
    let lines =
        ran.err.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let lines: Vec<_> = lines.collect();
    let calls: Vec<_> = lines.iter().filter_map(|line| line["call"].as_str()).collect();
    let called =
        ["run_command", "grep", "grep", "read_file", "edit_file", "run_command", "complete_task"];
    assert_eq!(calls, called);
    let answers = lines.iter().filter(|line| line["answer"].is_string());
    assert_eq!(answers.count(), called.len(), "each call has one answer");
}

/// The first provider is overloaded from the third turn on; the second goes on with what the first has begun. Each provider is
/// once first and once second.
#[test]
fn a_run_whose_provider_goes_down_ends_well_with_another() {
    let models = |provider: &str| match provider {
        "anthropic" => "claude-sonnet-4-6",
        "gemini" => "gemini-2.5-pro",
        _ => "gpt-5.2",
    };
    for (first, fallback, second) in [
        ("anthropic", "--fallback", "openai-chat"),
        ("openai-chat", "--fallback=gemini", "gemini"),
        ("gemini", "--fallback=openai-responses", "openai-responses"),
        ("openai-responses", "--fallback=anthropic", "anthropic"),
    ] {
        let ran = offline(&["--provider", first, fallback]);
        let end = ran.end();
        assert_eq!((ran.code, &end["ended"]), (0, &json!("terminal")), "{}", ran.err);
        let providers = (&end["provider"], &end["fallback"]["provider"]);
        assert_eq!(providers, (&json!(first), &json!(second)));
        assert_eq!(end["tokens"], tokens(), "what failed took nothing");
        let down = format!("fallback: {first} at http://127.0.0.1:");
        assert!(ran.err.contains(&down), "{}", ran.err);
        assert!(ran.err.contains("answered status 529 (overloaded_error"), "{}", ran.err);
        let asked = format!("asked 3 times; {} is asked instead", models(second));
        assert!(ran.err.contains(&asked), "{}", ran.err);
        assert!(ran.err.contains("test result: ok. 88 passed; 0 failed"), "{}", ran.err);
    }
}
