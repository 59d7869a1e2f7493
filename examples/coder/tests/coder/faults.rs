//! What a provider may do wrong: each ends in an exit code and a message that says what to do.

use serde_json::json;

use crate::provider::{asked, call, message, status, text};
use crate::{Ran, folder};

fn failed(ran: &Ran, kind: &str, words: &[&str]) {
    ended(ran, "model_failed", kind, words);
}

/// The model was away, so that another try may go on.
fn stopped(ran: &Ran, kind: &str, words: &[&str]) {
    ended(ran, "stopped", kind, words);
}

fn ended(ran: &Ran, how: &str, kind: &str, words: &[&str]) {
    let end = ran.end();
    assert_eq!((ran.code, &end["ended"], &end["kind"]), (1, &json!(how), &json!(kind)));
    let message = end["message"].as_str().unwrap();
    for words in words {
        assert!(message.contains(words), "{words} is not in {message}");
        assert!(ran.err.contains(words), "{words} is not in {}", ran.err);
    }
    assert!(!format!("{}{}", ran.out, ran.err).contains("hunter2"), "the key is shown");
}

#[test]
fn a_text_ends_the_run() {
    let ran = asked(folder().path(), &[], vec![text("Hello.")]);
    assert_eq!((ran.code, ran.end()["ended"].as_str()), (0, Some("text")), "{}", ran.err);
    assert!(ran.err.contains("[1] model   Hello.\n"), "{}", ran.err);
}

#[test]
fn a_provider_that_is_busy_is_asked_again() {
    let soon = |it| status(it, "").header("retry-after-ms", "10");
    let said = vec![soon(429), soon(529), text("Hello.")];
    let ran = asked(folder().path(), &["--json"], said);
    assert_eq!((ran.code, ran.end()["ended"].as_str()), (0, Some("text")), "{}", ran.err);
    let retries: Vec<&str> = ran.err.lines().filter(|it| it.contains(r#"{"retry":"#)).collect();
    assert_eq!(retries.len(), 2, "{}", ran.err);
    assert!(retries[0].contains("answered status 429"), "{}", ran.err);
}

#[test]
fn a_provider_that_refuses_or_stays_away_fails_the_run() {
    let error = |it| json!({"type": "error", "error": {"type": it, "message": "hunter2 is wrong"}});
    let ran = asked(folder().path(), &[], vec![status(401, error("authentication_error"))]);
    failed(
        &ran,
        "wrong_key",
        &["status 401 (authentication_error", "expected 200", "check the key"],
    );
    let away = || status(503, error("api_error")).header("retry-after-ms", "1");
    let ran = asked(folder().path(), &[], vec![away(), away(), away()]);
    stopped(&ran, "unavailable", &["status 503", "ask again later", "asked 3 times"]);
    let later = status(429, error("rate_limit_error")).header("retry-after", "3600");
    let ran = asked(folder().path(), &[], vec![later]);
    stopped(&ran, "rate_limited", &["left alone for 3600 s", "may wait at most 60 s"]);
    assert_eq!(ran.end()["retry_after_ms"], 3_600_000);
}

#[test]
fn a_server_that_is_not_there_fails_the_run() {
    let ran = crate::run(crate::provider::against("http://127.0.0.1:1", folder().path(), &[]));
    stopped(
        &ran,
        "unreachable",
        &["http://127.0.0.1:1/v1/messages could not be reached", "check the base URL"],
    );
}

#[test]
fn an_answer_that_is_none_fails_the_run() {
    for (body, words) in [
        ("<html>Sign in</html>", "answered `<html>Sign in</html>`, expected an Anthropic message"),
        (
            r#"{"choices":[{"message":{"role":"assistant","content":null}}]}"#,
            "found one of openai-chat",
        ),
    ] {
        let ran = asked(folder().path(), &[], vec![status(200, body)]);
        failed(
            &ran,
            "invalid_response",
            &[words, "check that the provider and the base URL belong together"],
        );
    }
    let words = ["--provider", "openai-chat"];
    let ran = asked(folder().path(), &words, vec![status(200, r#"{"choices":[]}"#)]);
    failed(&ran, "invalid_response", &["expected an OpenAI chat completion (it has no choices)"]);
}

#[test]
fn a_refusal_fails_the_run_with_what_was_said() {
    let refused = message(json!([{"type": "text", "text": "I do not say hello."}]), "refusal");
    let ran = asked(folder().path(), &[], vec![refused]);
    failed(&ran, "refused", &["I do not say hello."]);
}

#[test]
fn a_wrong_call_is_answered_and_the_model_goes_on() {
    let use_of = |id: &str, name: &str, input| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let read = json!({"path": "notes.md"});
    let calls = json!([
        use_of("t1", "raed_file", read.clone()),
        use_of("t2", "read_file", json!({"pth": "notes.md"})),
        use_of("t3", "read_file", read.clone()),
        use_of("t3", "read_file", read),
    ]);
    let ran = asked(folder().path(), &[], vec![message(calls, "tool_use"), text("Hello.")]);
    assert_eq!((ran.code, ran.end()["turns"].as_u64()), (0, Some(2)), "{}", ran.err);
    for words in [
        "[1] answer  raed_file failed\n    unknown_tool: no tool is called `raed_file`\n",
        "hint: did you mean `read_file`, `edit_file`?",
        "    /pth: unknown key, expected one of",
        "1    buy tea",
        "another call of this turn has the id `t3`; this one of `read_file` was not run",
    ] {
        assert!(ran.err.contains(words), "{words} is not in\n{}", ran.err);
    }
}

#[test]
fn arguments_that_are_no_json_are_answered_and_the_model_goes_on() {
    let said = |message| json!({"choices": [{"message": message}]});
    let calls = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "path: notes.md"}},
    ]});
    let done = json!({"role": "assistant", "content": "Hello.", "refusal": null});
    let said = vec![status(200, said(calls)), status(200, said(done))];
    let ran = asked(folder().path(), &["--provider", "openai-chat"], said);
    assert_eq!((ran.code, ran.end()["ended"].as_str()), (0, Some("text")), "{}", ran.err);
    assert!(ran.err.contains("[1] answer  read_file failed\n"), "{}", ran.err);
}

#[test]
fn empty_answers_and_too_many_turns_are_limits() {
    let empty = || message(json!([]), "end_turn");
    let ran = asked(folder().path(), &[], vec![empty(), empty()]);
    let end = ran.end();
    assert_eq!(
        (ran.code, &end["ended"], &end["limit"]),
        (4, &json!("limit"), &json!("empty_answers"))
    );
    let list = call("list_files", json!({}));
    let ran = asked(folder().path(), &["--turns", "1"], vec![list]);
    let end = ran.end();
    assert_eq!((ran.code, &end["limit"], &end["turns"]), (4, &json!("turns"), &json!(1)));
}

#[test]
fn a_call_that_needs_a_decision_ends_the_run_where_nobody_can_be_asked() {
    let write = call("write_file", json!({"path": "Cargo.toml", "content": ""}));
    let folder = folder();
    let ran = asked(folder.path(), &[], vec![write]);
    let end = ran.end();
    assert_eq!(
        (ran.code, &end["ended"], &end["tool"]),
        (3, &json!("undecided"), &json!("write_file"))
    );
    assert!(end["message"].as_str().unwrap().contains("no approver can be asked"), "{end}");
    assert!(ran.err.contains("start it at a terminal to decide"), "{}", ran.err);
    assert!(!folder.path().join("Cargo.toml").exists(), "it was not run");
}

#[test]
fn a_recording_has_no_key_and_serves_the_same_run() {
    let folder = folder();
    let file = folder.path().join("run.jsonl");
    let words = ["--record", file.to_str().unwrap()];
    let said = || vec![call("read_file", json!({"path": "notes.md"})), text("Hello.")];
    let ran = asked(folder.path(), &words, said());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let recorded = std::fs::read_to_string(&file).unwrap();
    assert!(!recorded.contains("hunter2"), "{recorded}");
    let recording: toolwright_agent::recording::Recording = recorded.parse().unwrap();
    assert_eq!(recording.exchanges().len(), 2);
    let again = asked(folder.path(), &words, Vec::new());
    assert_eq!((again.code, again.out.as_str()), (2, ""), "{}", again.err);
    assert!(again.err.contains("cannot be begun") && again.err.contains("name a new file"));
}
