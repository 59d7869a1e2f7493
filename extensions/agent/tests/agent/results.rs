//! Large answers: what a model reads of them, how it gets at the rest, and how it passes them on.

use std::sync::Arc;

use futures::future::ready;
use serde_json::json;
use toolwright::approval::{Callback, Response};
use toolwright::journal::{Filter, Journal, MemoryStore, Page, SealingKey, Store};
use toolwright::{
    Answer, Content, DynamicTool, Effect, Executor, OnNoApprover, Output, Registry, ToolError,
    data, dialect::Dialect, tool,
};
use toolwright_agent::durable::{NewRun, Runner};
use toolwright_agent::{Agent, AnswerBudget, Message, ScriptedModel, ScriptedRequest};

use crate::support::Log;

/// One package.
#[data]
struct Package {
    /// What it is called.
    name: String,
    /// Its number, which no float holds.
    id: u64,
}

/// Lists the packages.
#[tool(effect = read)]
async fn list_packages() -> Vec<Package> {
    let package = |number: u64| Package {
        name: format!("package-{number}"),
        id: 9_007_199_254_740_993 + number,
    };
    (0..2_000).map(package).collect()
}

/// Reads the log.
#[tool(effect = read)]
async fn read_log(
    /// How many lines.
    lines: usize,
) -> String {
    (1..=lines).map(|line| format!("line {line} of the log\n")).collect()
}

/// Orders a package.
#[tool(effect = once)]
async fn order(
    log: &Log,
    /// Which.
    id: u64,
    /// What it is for.
    note: Option<String>,
    /// By whom.
    #[arg(secret)]
    password: Option<String>,
) -> String {
    let _ = password;
    log.add(format!("order {id} {}", note.as_deref().unwrap_or("-")));
    format!("ordered {id}")
}

/// Fails at length.
#[tool(effect = read)]
async fn fail_at_length() -> Result<(), ToolError> {
    Err(ToolError::new("compiler_failed", "error: no such crate\n".repeat(5_000)))
}

fn registry() -> Registry {
    Registry::of([LIST_PACKAGES, READ_LOG, ORDER, FAIL_AT_LENGTH]).unwrap()
}

/// What a script of calls comes to, with what the model was asked.
struct Ran {
    requests: Vec<ScriptedRequest>,
    history: Vec<Message>,
    log: Log,
}

/// Runs an agent of these tools by a script, which says something in the end.
async fn ran_with(script: ScriptedModel, budget: AnswerBudget) -> Ran {
    let (log, model) = (Log::default(), Arc::new(script.says("Done.")));
    let executor = Executor::builder(registry()).unrestricted().service(log.clone());
    let agent = Agent::on(executor.build().unwrap(), Arc::clone(&model)).answer_budget(budget);
    let mut run = agent.build().unwrap().new_run("r").start().unwrap();
    run.send("Go!").await.unwrap();
    Ran { requests: model.requests(), history: run.history().to_vec(), log }
}

async fn ran(calls: &[(&str, &str)]) -> Ran {
    let script = calls.iter().fold(ScriptedModel::new(), |it, call| it.calls([*call]));
    ran_with(script, AnswerBudget::default()).await
}

fn answers(history: &[Message]) -> Vec<&Answer> {
    let answered = history.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    answered.flat_map(|it| it.iter().map(|(_, answer)| answer)).collect()
}

impl Ran {
    /// The answers as the model was sent them in its last request.
    fn sent(&self) -> Vec<String> {
        let answers = answers(&self.requests.last().unwrap().history);
        answers.iter().map(|it| it.text().into_owned()).collect()
    }

    /// The answers as the host has them.
    fn whole(&self) -> Vec<String> {
        answers(&self.history).iter().map(|it| it.text().into_owned()).collect()
    }

    /// The kind of the last answer.
    fn kind(&self) -> &str {
        answers(&self.history).last().unwrap().error().map_or("ok", |it| it.kind())
    }
}

#[tokio::test]
async fn a_large_value_is_sent_as_its_shape_and_the_host_has_it_whole() {
    let ran = ran(&[("list_packages", "{}")]).await;
    let sent = &ran.sent()[0];
    assert!(sent.starts_with("[lr_1: JSON of 90,891 characters"), "{sent}");
    let shape = "array of 2,000: {\n  \"id\": number\n  \"name\": string of 9 to 12\n}";
    assert!(sent.ends_with(shape), "{sent}");
    let whole = answers(&ran.history)[0].structured().unwrap();
    assert_eq!(whole[1_999]["name"], "package-1999");
}

#[tokio::test]
async fn a_large_text_is_sent_as_its_ends_cut_at_lines() {
    let ran = ran(&[("read_log", r#"{"lines":5000}"#)]).await;
    let sent = &ran.sent()[0];
    assert!(sent.chars().count() <= 30_000);
    assert!(sent.contains("]\nline 1 of the log\n") && sent.ends_with("\nline 5000 of the log\n"));
    assert!(sent.contains(" characters left out …]\nline "), "{sent}");
    assert_eq!(ran.whole()[0].lines().count(), 5_000);
}

#[tokio::test]
async fn an_answer_within_its_budget_and_the_tools_of_its_run_are_sent_as_they_are() {
    let ran = ran(&[("read_log", r#"{"lines":3}"#)]).await;
    assert_eq!(ran.sent(), ran.whole());
    assert!(!ran.requests.last().unwrap().tools.contains("read_large_result"));
}

/// S0.69: the pages of a value are no values, and together are its text.
#[tokio::test]
async fn the_pages_of_a_large_result_are_its_text() {
    let read = |page: usize| json!({"id": "lr_1", "page": page}).to_string();
    let pages: Vec<String> = (1..=13).map(read).collect();
    let calls = pages.iter().map(|page| ("read_large_result", page.as_str()));
    let calls: Vec<_> = [("list_packages", "{}")].into_iter().chain(calls).collect();
    let ran = ran(&calls).await;
    let whole = answers(&ran.history);
    let values = whole[1..13].iter().map(|it| it.structured().unwrap());
    let text: String = values.map(|it| it["content"].as_str().unwrap().to_owned()).collect();
    assert_eq!(text, whole[0].text());
    let first = whole[1].structured().unwrap();
    assert_eq!((&first["total_pages"], &first["total_chars"]), (&json!(12), &json!(90_891)));
    let error = whole[13].error().unwrap();
    assert_eq!(error.kind(), "page_out_of_range");
    assert_eq!(error.message(), "`lr_1` has the pages 1 to 12, and no page 13");
    assert!(ran.requests[1].tools.contains("read_large_result"), "they are shown with the result");
}

#[tokio::test]
async fn a_large_result_is_searched_by_the_paths_of_a_value_and_the_lines_of_a_text() {
    let ran = ran(&[
        ("list_packages", "{}"),
        ("search_large_result", r#"{"id":"lr_1","pattern":"^package-19\\d\\d$"}"#),
        ("read_log", r#"{"lines":5000}"#),
        ("search_large_result", r#"{"id":"lr_3","pattern":"line 4999 "}"#),
        ("search_large_result", r#"{"id":"lr_3","pattern":"("}"#),
    ])
    .await;
    let sent = ran.sent();
    assert!(
        sent[1].starts_with("[lr_1: 100 matches]\n/1900/name: \"package-1900\"\n"),
        "{}",
        sent[1]
    );
    assert_eq!(sent[3], "[lr_3: 1 match]\nline 4999, page 13: line 4999 of the log");
    assert_eq!(ran.kind(), "invalid_input");
}

#[tokio::test]
async fn a_reference_is_resolved_before_the_tool_reads_its_input() {
    let ran = ran(&[
        ("list_packages", "{}"),
        ("order", r#"{"id":{"$result":"lr_1","path":"/1234/id"},"note":{"$result":"lr_1","path":"/0/name"}}"#),
    ])
    .await;
    assert_eq!(ran.log.lines(), ["order 9007199254742227 package-0"]);
    let Message::Assistant { calls, .. } = &ran.history[3] else { panic!("the model called") };
    assert!(calls[0].arguments.contains("$result"), "the model reads what it wrote");
}

#[tokio::test]
async fn a_reference_to_what_is_not_there_is_refused_and_its_siblings_run() {
    let script = ScriptedModel::new().calls([("list_packages", "{}")]).calls([
        ("order", r#"{"id":{"$result":"lr_7"}}"#),
        ("order", r#"{"id":{"$result":"lr_1","path":"/2000/id"}}"#),
        ("order", r#"{"id":7,"password":{"$result":"lr_1","path":"/0/name"}}"#),
        ("order", r#"{"id":7,"Password":{"$result":"lr_1","path":"/0/name"}}"#),
        ("order", r#"{"id":{"$result":"lr_1","path":"/0/id"},}"#),
        ("ordr", r#"{"id":{"$result":"lr_1","path":"/0/id"}}"#),
        ("order", r#"{"id":8}"#),
    ]);
    let ran = ran_with(script, AnswerBudget::default()).await;
    assert_eq!(ran.log.lines(), ["order 8 -"]);
    let all = answers(&ran.history);
    let errors = all[1..7].iter().map(|it| it.error().unwrap());
    let errors: Vec<_> = errors.map(|it| (it.kind().to_owned(), it.message().to_owned())).collect();
    let expected = [
        "/id: this run has no result `lr_7`; it has lr_1",
        "/id: `lr_1` has no `/2000/id`: it is an array of 2,000 items, counted from 0",
        "/password: it is secret, and takes no reference; write the value itself",
        "/Password: `order` has no such parameter, and takes no reference in it",
        "arguments with a reference have to be valid JSON",
        "/id: no tool `ordr` is known that takes a reference",
    ];
    assert_eq!(errors, expected.map(|it| ("invalid_reference".to_owned(), it.to_owned())));
}

#[tokio::test]
async fn a_tool_without_references_takes_them_as_they_are() {
    let script = ScriptedModel::new()
        .calls([("list_packages", "{}")])
        .calls([("order", r#"{"id":{"$result":"lr_1","path":"/0/id"}}"#)]);
    let budget = AnswerBudget::default().without_references("order");
    let ran = ran_with(script, budget).await;
    assert_eq!((ran.kind(), ran.log.lines().len()), ("invalid_input", 0));
}

#[tokio::test]
async fn each_tool_has_its_own_budget() {
    let script = || ScriptedModel::new().calls([("read_log", r#"{"lines":5000}"#)]);
    for (budget, is_whole) in [
        (AnswerBudget::default().whole("read_log"), true),
        (AnswerBudget::default().tool("read_log", 200_000), true),
        (AnswerBudget::unlimited(), true),
        (AnswerBudget::unlimited().tool("read_log", 1_000), false),
    ] {
        let ran = ran_with(script(), budget).await;
        assert_eq!(ran.sent() == ran.whole(), is_whole);
    }
}

#[tokio::test]
async fn a_large_error_keeps_its_kind() {
    let ran = ran(&[("fail_at_length", "{}")]).await;
    let sent: serde_json::Value = serde_json::from_str(&ran.sent()[0]).unwrap();
    assert_eq!(sent["error_type"], "compiler_failed");
    assert!(sent["message"].as_str().unwrap().starts_with("[lr_1: 105,000 characters"), "{sent}");
}

#[tokio::test]
async fn pictures_structured_values_and_metadata_stay_beside_an_excerpt() {
    let picture = Content::Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() };
    let output = Output::text("wide\n".repeat(10_000))
        .with(picture.clone())
        .structured(json!({"width": 3}))
        .metadata("untrusted", "server `x`");
    let schema = json!({"type": "object", "additionalProperties": false});
    let draw = DynamicTool::new("draw", "Draws.", schema, move |_, _| ready(Ok(output.clone())));
    let registry = Registry::of([draw.effect(Effect::Read)]).unwrap();
    let model = ScriptedModel::new()
        .calls([("draw", "{}")])
        .calls([("read_large_result", r#"{"id":"lr_1"}"#)])
        .says("Done.");
    let model = Arc::new(model);
    let executor = Executor::builder(registry).unrestricted().build().unwrap();
    let agent = Agent::on(executor, Arc::clone(&model)).build().unwrap();
    agent.new_run("r").start().unwrap().send("Go!").await.unwrap();
    let requests = model.requests();
    let sent = answers(&requests.last().unwrap().history);
    assert_eq!(sent[0].content()[1], picture);
    assert_eq!(sent[0].structured(), Some(json!({"width": 3})));
    // What a stranger wrote is so page by page.
    assert!(sent[1].text().starts_with("[lr_1, page 1 of 7, 50,000 characters in all; untrusted"));
    assert_eq!(sent[1].metadata().unwrap()["untrusted"], "server `x`");
}

/// A model that has to follow the schema of a tool can write no reference there.
#[tokio::test]
async fn references_are_not_offered_where_a_model_cannot_write_them() {
    for (dialect, is_offered) in [(Dialect::Anthropic, true), (Dialect::AnthropicStrict, false)] {
        let script = ScriptedModel::new().dialect(dialect).calls([("list_packages", "{}")]);
        let registry = Registry::of([LIST_PACKAGES]).unwrap();
        let model = Arc::new(script.says("Done."));
        let executor = Executor::builder(registry).unrestricted().build().unwrap();
        let agent = Agent::on(executor, Arc::clone(&model)).build().unwrap();
        agent.new_run("r").start().unwrap().send("Go!").await.unwrap();
        let requests = model.requests();
        let sent = answers(&requests.last().unwrap().history)[0].text().into_owned();
        assert_eq!(sent.contains("$result"), is_offered, "{sent}");
    }
}

/// The journal records and the approver sees the value, and not the reference.
#[tokio::test]
async fn what_is_approved_and_recorded_is_the_resolved_value() {
    let (store, log) = (MemoryStore::new(), Log::default());
    let approver = Callback::new(|request| {
        assert!(request.arguments.contains("9007199254742227"), "{request:?}");
        Response::Approve
    });
    let executor = Executor::builder(registry()).service(log.clone());
    let executor = executor.journal(Journal::new(store.clone())).ask(approver).build().unwrap();
    let model = ScriptedModel::new()
        .calls([("list_packages", "{}")])
        .calls([("order", r#"{"id":{"$result":"lr_1","path":"/1234/id"}}"#)])
        .says("Done.");
    let agent = Agent::on(executor, model).build().unwrap();
    agent.new_run("r").start().unwrap().send("Go!").await.unwrap();
    assert_eq!(log.lines(), ["order 9007199254742227 -"]);
    let records = store.list(&Filter::default(), Page::first(10)).await.unwrap().calls;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].shown, r#"{"id":9007199254742227}"#);
}

/// Each runner is another process on one journal.
fn runner(store: &Arc<dyn Store>, log: &Log, model: ScriptedModel) -> Runner {
    // One of the tools has a secret.
    let journal = Journal::shared(Arc::clone(store)).sealing_key(SealingKey::from_bytes([7; 32]));
    let journal = journal.on_no_approver(OnNoApprover::Park);
    let executor =
        Executor::builder(registry()).unrestricted().service(log.clone()).journal(journal);
    let agent = Agent::on(executor.build().unwrap(), model).build().unwrap();
    Runner::builder().agent("clerk", agent).build().unwrap()
}

#[tokio::test]
async fn handles_outlive_their_process_and_are_those_of_a_fork() {
    let (store, log): (Arc<dyn Store>, _) = (Arc::new(MemoryStore::new()), Log::default());
    let model = ScriptedModel::new().calls([("list_packages", "{}")]).says("Which?");
    runner(&store, &log, model).start(NewRun::new("r1", "clerk", "list them")).await.unwrap();

    let refers = || {
        ScriptedModel::new()
            .calls([
                ("order", r#"{"id":{"$result":"lr_1","path":"/7/id"}}"#),
                ("read_large_result", r#"{"id":"lr_1","page":2}"#),
            ])
            .says("Done.")
    };
    let other = runner(&store, &log, refers());
    other.send("r1", "the seventh").await.unwrap();
    assert_eq!(log.lines(), ["order 9007199254741000 -"]);

    let forks = runner(&store, &log, refers());
    forks.fork("r1", 2, "r2").await.unwrap();
    forks.send("r2", "the seventh").await.unwrap();
    assert_eq!(log.lines().len(), 2);
    let history = forks.history("r2").await.unwrap();
    assert!(answers(&history).iter().all(|it| !it.is_error()));

    // A handle is one of its run alone.
    let foreign = runner(&store, &log, refers());
    foreign.start(NewRun::new("r3", "clerk", "order it")).await.unwrap();
    let history = foreign.history("r3").await.unwrap();
    let kinds = answers(&history).into_iter().map(|it| it.error().unwrap().kind());
    // Without a large result there is no tool that reads one.
    assert_eq!(kinds.collect::<Vec<_>>(), ["invalid_reference", "unknown_tool"]);
}

/// Reads begin while the model still writes, and those that refer wait for the answer.
#[tokio::test]
async fn calls_that_refer_run_beside_reads_that_have_begun_early() {
    let calls = [
        ("read_log", r#"{"lines":1}"#),
        ("order", r#"{"id":{"$result":"lr_1","path":"/7/id"}}"#),
        ("order", r#"{"id":{"$result":"lr_9"}}"#),
    ];
    let model = ScriptedModel::new().streaming().calls([("list_packages", "{}")]).calls(calls);
    let model = model.says("Done.");
    let log = Log::default();
    let executor = Executor::builder(registry()).unrestricted().service(log.clone());
    let agent = Agent::on(executor.build().unwrap(), model).early_reads().build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    run.send("Go!").await.unwrap();
    assert_eq!(log.lines(), ["order 9007199254741000 -"]);
    let kinds: Vec<_> = answers(run.history()).iter().map(|it| it.is_error()).collect();
    assert_eq!(kinds, [false, false, false, true]);
}

#[test]
fn a_tool_that_has_the_name_of_one_that_reads_large_answers_is_refused() {
    let schema = json!({"type": "object"});
    let of_the_name = || {
        let schema = schema.clone();
        DynamicTool::new("read_large_result", "Reads.", schema, |_, _| ready(Ok("read")))
    };
    let agent = || Agent::builder(ScriptedModel::new()).tools([of_the_name()]);
    let error = agent().build().unwrap_err();
    assert!(error.to_string().contains("`read_large_result` is the name of the tool"), "{error}");
    assert!(agent().answer_budget(AnswerBudget::unlimited()).build().is_ok());
}
