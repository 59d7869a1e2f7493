//! What a tool answers, stored without being shown.

use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwright::approval::{Callback, Response};
use toolwright::{
    Call, Executor, ExecutorBuilder, Handle, Registry, ToolError, ToolEventKind, tool,
};
use toolwright_toolbox::{
    CONTEXT_PIPE, CONTEXT_SEARCH, ContextStore, OnConflict, WRITE_FILE, Workspace,
};

use super::support::runtime;

/// The tools that have run.
#[derive(Clone, Default)]
struct Ran(Arc<Mutex<Vec<String>>>);

impl Ran {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Reports the revenue of each month.
#[tool(unlinked, effect = read, reads())]
async fn report(
    ran: &Ran,
    /// How many months.
    #[arg(minimum = 1, maximum = 20000)]
    months: u32,
) -> String {
    ran.add("report");
    (1..=months).map(|month| format!("month {month}: quarterly revenue\n")).collect()
}

/// Lists numbers.
#[tool(unlinked, effect = read, reads())]
async fn numbers(ran: &Ran) -> Vec<u32> {
    ran.add("numbers");
    vec![1, 2, 3]
}

/// Sends a letter.
#[tool(unlinked, effect = once, danger = dangerous, writes())]
async fn send_letter(ran: &Ran) -> String {
    ran.add("send_letter");
    "sent".to_owned()
}

/// Fails with many words.
#[tool(unlinked, effect = read, reads())]
async fn fail(ran: &Ran) -> Result<String, ToolError> {
    ran.add("fail");
    Err(ToolError::new("out_of_tea", "ä".repeat(5000)).hint("buy some"))
}

/// Takes the path that the pipe is about to write.
#[tool(unlinked, effect = once, writes())]
async fn take_path(ran: &Ran, store: &ContextStore) -> Result<String, ToolError> {
    ran.add("take_path");
    store.write("out", "mine", OnConflict::Error, None)?;
    Ok("theirs".to_owned())
}

/// Ends the task.
#[tool(unlinked, effect = read, reads(), terminal)]
async fn complete_task(ran: &Ran) {
    ran.add("complete_task");
}

/// Signs in.
#[tool(unlinked, effect = read, reads())]
async fn sign_in(
    ran: &Ran,
    /// The password.
    #[arg(secret)]
    password: String,
) -> usize {
    ran.add("sign_in");
    password.len()
}

const TOOLS: [Handle; 7] = [REPORT, NUMBERS, SEND_LETTER, FAIL, TAKE_PATH, COMPLETE_TASK, SIGN_IN];

struct Piping {
    _folder: TempDir,
    store: ContextStore,
    ran: Ran,
    executor: Executor,
}

impl Piping {
    fn new() -> Self {
        Self::with(ExecutorBuilder::unrestricted)
    }

    fn with(change: impl FnOnce(ExecutorBuilder) -> ExecutorBuilder) -> Self {
        let folder = TempDir::new().unwrap();
        let store = ContextStore::open(folder.path().join("context.db")).unwrap();
        let (ran, files) = (Ran::default(), folder.path().join("files"));
        std::fs::create_dir(&files).unwrap();
        let others = [CONTEXT_PIPE, CONTEXT_SEARCH, WRITE_FILE];
        let pipes = [CONTEXT_PIPE.renamed("another_pipe")];
        let tools = TOOLS.into_iter().chain(others).map(Into::into).chain(pipes);
        let builder = Executor::builder(Registry::of(tools).unwrap())
            .service(store.clone())
            .service(Workspace::open(files).unwrap())
            .service(ran.clone());
        Self { _folder: folder, store, ran, executor: change(builder).build().unwrap() }
    }

    fn pipe(&self, tool: &str, input: Value) -> Value {
        self.call("context_pipe", json!({"tool_name": tool, "tool_input": input, "path": "out"}))
    }

    /// What a tool answers: its result, or its error as a model reads it.
    fn call(&self, tool: &str, input: Value) -> Value {
        let input = input.to_string();
        let answer = runtime().block_on(self.executor.call(&Call::new(tool, input.as_str())));
        match answer.error() {
            None => serde_json::from_str(&answer.text()).unwrap(),
            Some(error) => serde_json::from_str(&error.to_json()).unwrap(),
        }
    }

    fn stored(&self) -> Option<String> {
        self.store.read("out", None).ok().map(|entry| entry.content)
    }
}

/// S0.51, S0.52, S0.53, S0.54, S0.55
#[test]
fn what_a_tool_answers_is_stored_and_found_and_only_its_beginning_is_shown() {
    let piping = Piping::new();
    let answer = piping.pipe("report", json!({"months": 5000}));
    let stored = piping.stored().unwrap();
    assert!(stored.ends_with("month 5000: quarterly revenue\n"));
    let preview: String = stored.chars().take(200).collect();
    assert_eq!(
        answer,
        json!({"path": "out", "version": 1, "bytes_written": stored.len(), "preview": preview})
    );
    let found = piping.call("context_search", json!({"query": "\"month 4321\""}));
    assert!(found[0]["text"].as_str().unwrap().contains("month 4321"), "{found}");
}

/// S0.53
#[test]
fn the_payload_is_stored_and_no_envelope_around_it() {
    let piping = Piping::new();
    piping.pipe("numbers", json!({}));
    assert_eq!(piping.stored().unwrap(), "[1,2,3]");
}

#[test]
fn a_path_that_is_taken_is_refused_before_the_tool_runs() {
    let piping = Piping::new();
    piping.pipe("numbers", json!({}));
    // The path is looked at before the tool, which is unknown here.
    for tool in ["send_letter", "no_such_tool"] {
        let answer = piping.pipe(tool, json!({}));
        assert_eq!(answer["error_type"], "path_conflict", "{answer}");
    }
    assert_eq!(piping.ran.all(), ["numbers"]);
    let over = json!({"tool_name": "report", "tool_input": {"months": 1}, "path": "out", "on_conflict": "overwrite"});
    assert_eq!(piping.call("context_pipe", over)["version"], 2);
    assert_eq!(piping.stored().unwrap(), "month 1: quarterly revenue\n");
}

/// S0.56, S0.57
#[test]
fn tools_that_end_a_run_pipes_and_tools_with_secrets_are_forbidden_before_their_input_is_read() {
    let piping = Piping::new();
    for tool in ["complete_task", "context_pipe", "another_pipe", "sign_in"] {
        let answer = piping.pipe(tool, json!({"no_such_parameter": 1}));
        assert_eq!(answer["error_type"], "forbidden_tool", "{answer}");
    }
    assert_eq!(piping.pipe("repot", json!({}))["error_type"], "unknown_tool");
    assert_eq!((piping.ran.all().len(), piping.stored()), (0, None));
}

/// S0.58
#[test]
fn input_that_does_not_fit_the_inner_tool_is_refused_by_pointer() {
    let piping = Piping::new();
    let answer = piping.pipe("report", json!({"months": 0}));
    assert_eq!(answer["error_type"], "invalid_input", "{answer}");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("`report`") && message.contains("/months"), "{message}");
    assert_eq!((piping.ran.all().len(), piping.stored()), (0, None));
}

/// S0.59
#[test]
fn an_inner_error_stores_nothing_and_is_shown_in_at_most_2000_characters() {
    let piping = Piping::new();
    let answer = piping.pipe("fail", json!({}));
    assert_eq!(answer["error_type"], "inner_tool_error");
    assert_eq!(answer["details"], json!({"inner_error_type": "out_of_tea"}));
    assert_eq!(answer["next_action_hint"], "buy some");
    let message = answer["message"].as_str().unwrap();
    assert_eq!(message.chars().count(), 2000);
    assert!(message.starts_with("`fail` failed, so nothing was stored: ää"), "{message}");
    assert_eq!((piping.ran.all(), piping.stored()), (vec!["fail".to_owned()], None));
}

#[test]
fn a_path_that_is_taken_while_the_tool_runs_is_not_overwritten() {
    let piping = Piping::new();
    let answer = piping.pipe("take_path", json!({}));
    assert_eq!(answer["error_type"], "path_conflict", "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("`take_path` has run"), "{answer}");
    assert_eq!(piping.stored().unwrap(), "mine");
}

#[test]
fn a_repeated_pipe_answers_what_it_has_written_even_if_another_call_has_replaced_it() {
    for on_conflict in ["error", "overwrite"] {
        let store: Arc<OnceLock<ContextStore>> = Arc::default();
        let own = Arc::clone(&store);
        let piping = Piping::with(|builder| {
            builder.unrestricted().listen(move |event| {
                if event.tool != "context_pipe" || !matches!(event.kind, ToolEventKind::Started) {
                    return;
                }
                // The pipe was interrupted after its write, and another call has written since.
                let note = format!("the output of `report`, by call {}", event.call);
                let write = |text: &str, note: Option<&str>| {
                    store.get().unwrap().write("out", text, OnConflict::Overwrite, note).unwrap()
                };
                write("of the first attempt", Some(&note));
                write("of another call", None);
            })
        });
        own.set(piping.store.clone()).unwrap();
        let input = json!({"tool_name": "report", "tool_input": {"months": 1}, "path": "out",
            "on_conflict": on_conflict});
        let answer = piping.call("context_pipe", input);
        let written = json!({"path": "out", "version": 1, "bytes_written": 20,
            "preview": "of the first attempt"});
        assert_eq!(answer, written, "{on_conflict}");
        assert_eq!(piping.ran.all(), Vec::<String>::new());
        assert_eq!(piping.stored().unwrap(), "of another call");
    }
}

#[test]
fn a_repeated_pipe_whose_text_was_stored_before_overwrites_no_later_text() {
    let input = json!({"tool_name": "numbers", "tool_input": {}, "path": "out",
        "on_conflict": "overwrite"});
    let call: Arc<Mutex<String>> = Arc::default();
    let first = Arc::clone(&call);
    let piping = Piping::with(|builder| {
        builder.unrestricted().listen(move |event| {
            if event.tool == "context_pipe" && matches!(event.kind, ToolEventKind::Started) {
                *first.lock().unwrap() = event.call.to_string();
            }
        })
    });
    piping.store.write("out", "[1,2,3]", OnConflict::Error, Some("by hand")).unwrap();
    assert_eq!(piping.call("context_pipe", input.clone())["version"], 1);
    let note = piping.store.read("out", None).unwrap().note.unwrap();
    let call = call.lock().unwrap().clone();
    assert_eq!(note, format!("by hand\nthe output of `numbers`, by call {call}"));

    let store: Arc<OnceLock<ContextStore>> = Arc::default();
    let own = Arc::clone(&store);
    let repeated = Piping::with(|builder| {
        builder.unrestricted().listen(move |event| {
            if event.tool != "context_pipe" || !matches!(event.kind, ToolEventKind::Started) {
                return;
            }
            // The pipe was interrupted after it had found its text unchanged, and another call has written since.
            let note = note.replace(&call, &event.call.to_string());
            let write = |text: &str, note: Option<&str>| {
                store.get().unwrap().write("out", text, OnConflict::Overwrite, note).unwrap()
            };
            write("[1,2,3]", Some(&note));
            write("of another call", None);
        })
    });
    own.set(repeated.store.clone()).unwrap();
    assert_eq!(repeated.call("context_pipe", input)["version"], 1);
    assert_eq!(repeated.ran.all(), Vec::<String>::new());
    assert_eq!(repeated.stored().unwrap(), "of another call");
}

#[test]
fn a_person_is_asked_about_the_inner_call_and_about_an_entry_that_would_be_replaced() {
    let asked = Ran::default();
    let log = asked.clone();
    let piping = Piping::with(|builder| {
        builder.ask(Callback::new(move |request| {
            log.add(request.tool.clone());
            Response::Reject { reason: Some("not today".to_owned()) }
        }))
    });
    assert_eq!(piping.pipe("numbers", json!({}))["bytes_written"], 7);
    assert_eq!(asked.all(), Vec::<String>::new(), "what is safe is piped unasked");
    let letter = json!({"tool_name": "send_letter", "tool_input": {}, "path": "letter"});
    let answer = piping.call("context_pipe", letter);
    assert_eq!(answer["error_type"], "inner_tool_error");
    assert_eq!(answer["details"], json!({"inner_error_type": "rejected"}));
    let over = json!({"tool_name": "numbers", "tool_input": {}, "path": "out", "on_conflict": "overwrite"});
    assert_eq!(piping.call("context_pipe", over)["error_type"], "rejected", "an entry is at stake");
    assert_eq!(asked.all(), ["send_letter", "context_pipe"]);
    assert_eq!(piping.ran.all(), ["numbers"]);
    assert_eq!(piping.stored().unwrap(), "[1,2,3]");
}

#[test]
fn the_inner_call_touches_what_it_says_itself() {
    let piping = Piping::new();
    let answer = piping.pipe("write_file", json!({"path": "a.txt", "content": "a\n"}));
    assert!(answer["bytes_written"].as_u64().is_some(), "{answer}");
}
