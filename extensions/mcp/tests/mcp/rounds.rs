//! Clients of the revision 2026-07-28, which answer the questions of a tool with their next request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolwright::journal::MemoryStore;
use toolwright::{Executor, Registry, ToolContext, ToolError, tool};
use toolwright_mcp::{ConnectedClient, ElicitationOutcome, LogLevel, McpServer};

use crate::http::{ADAS, Served, Tokens, message};
use crate::offers::approving;

/// How often tools were begun, and whether one was dropped.
#[derive(Clone, Default)]
struct Watch {
    begun: Arc<AtomicUsize>,
    dropped: Arc<Notify>,
}

struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn form() -> Value {
    json!({"type": "object", "properties": {"it": {"type": "string"}}})
}

fn told(answer: &ElicitationOutcome) -> String {
    match answer {
        ElicitationOutcome::Accepted(content) => {
            content["it"].as_str().unwrap_or_default().to_owned()
        }
        other => format!("{other:?}"),
    }
}

/// Ask one question, and then another.
#[tool(unlinked, effect = once, writes())]
async fn ask_twice(
    client: &ConnectedClient,
    watch: &Watch,
    context: &ToolContext,
    /// What to ask about.
    about: Option<String>,
) -> Result<String, ToolError> {
    watch.begun.fetch_add(1, Ordering::SeqCst);
    let about = about.unwrap_or_default();
    context.progress("asking", None);
    client.log(LogLevel::Info, "asking").await;
    let first = client.elicit(&format!("First{about}?"), form()).await?;
    context.progress("asking again", None);
    client.log(LogLevel::Warning, "asking again").await;
    let second = client.elicit("Second?", form()).await?;
    Ok(format!("{} {}", told(&first), told(&second)))
}

/// Ask two questions at once, one of which has a name.
#[tool(unlinked, effect = read, reads())]
async fn ask_both(client: &ConnectedClient) -> Result<String, ToolError> {
    let named = client.question("named");
    let (one, other) = (named.elicit("One?", form()), client.elicit("Other?", form()));
    let (one, other) = futures::try_join!(one, other)?;
    Ok(format!("{} {}", told(&one), told(&other)))
}

/// Ask nothing.
#[tool(unlinked, effect = read, reads())]
async fn plain() -> &'static str {
    "plain"
}

/// Ask the model, which is needed.
#[tool(unlinked, effect = read, reads())]
async fn need_model(client: &ConnectedClient) -> Result<String, ToolError> {
    Ok(client.sample(json!({"messages": [], "maxTokens": 1})).await?.to_string())
}

/// Ask the model, and do without.
#[tool(unlinked, effect = read, reads())]
async fn want_model(client: &ConnectedClient) -> String {
    match client.sample(json!({"messages": [], "maxTokens": 1})).await {
        Ok(_) => "with".to_owned(),
        Err(_) => format!("without, {}", client.can_sample()),
    }
}

/// Ask, and then work for ever.
#[tool(unlinked, effect = read, reads())]
async fn ask_and_work(client: &ConnectedClient, watch: &Watch) -> Result<(), ToolError> {
    let _dropped = Dropped(Arc::clone(&watch.dropped));
    client.elicit("Shall I?", form()).await?;
    watch.begun.fetch_add(1, Ordering::SeqCst);
    futures::future::pending().await
}

/// Ask, with little time.
#[tool(unlinked, effect = once, writes(), timeout = "50ms")]
async fn ask_briefly(client: &ConnectedClient, watch: &Watch) -> Result<String, ToolError> {
    let _dropped = Dropped(Arc::clone(&watch.dropped));
    client.elicit("Quick?", form()).await.map(|answer| told(&answer))
}

fn server(watch: &Watch) -> McpServer {
    let tools = [ASK_TWICE, ASK_BOTH, NEED_MODEL, WANT_MODEL, ASK_AND_WORK, ASK_BRIEFLY];
    let executor = Executor::builder(Registry::of(tools).unwrap()).unrestricted();
    let executor = executor.per_run::<ConnectedClient>().service(watch.clone()).build().unwrap();
    McpServer::new(executor).offer_client()
}

/// A request of the revision 2026-07-28 for a call; `more` are further parameters.
fn post(served: &Served, tool: &str, more: &Value) -> reqwest::RequestBuilder {
    let mut params = json!({"name": tool, "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }});
    for (key, value) in more.as_object().unwrap() {
        match (key.as_str(), value) {
            ("_meta", Value::Object(more)) => {
                params["_meta"].as_object_mut().unwrap().extend(more.clone());
            }
            _ => params[key] = value.clone(),
        }
    }
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let post = served.post(&call).header("mcp-protocol-version", "2026-07-28");
    post.header("mcp-method", "tools/call").header("mcp-name", tool)
}

async fn call(served: &Served, tool: &str, more: Value) -> Value {
    message(post(served, tool, &more).send().await.unwrap()).await
}

fn accepting(it: &str) -> Value {
    json!({"action": "accept", "content": {"it": it}})
}

/// The questions of a result by their keys, and its state.
fn asked(answer: &Value) -> (Vec<(String, String)>, String) {
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    let questions = result["inputRequests"].as_object().unwrap().iter().map(|(key, request)| {
        assert_eq!(request["method"], "elicitation/create");
        (key.clone(), request["params"]["message"].as_str().unwrap().to_owned())
    });
    (questions.collect(), result["requestState"].as_str().unwrap().to_owned())
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn refused(answer: &Value) -> &str {
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    answer["error"]["message"].as_str().unwrap()
}

#[tokio::test]
async fn a_tool_that_asks_goes_on_where_it_stands_when_the_answer_comes() {
    let watch = Watch::default();
    let served = Served::of(server(&watch)).await;
    let (questions, first) = asked(&call(&served, "ask_twice", json!({})).await);
    let [(key, question)] = &questions[..] else { panic!("{questions:?}") };
    assert_eq!(question, "First?");
    let answers = json!({"inputResponses": {key: accepting("a")}, "requestState": first});
    let (questions, second) = asked(&call(&served, "ask_twice", answers).await);
    let [(key, question)] = &questions[..] else { panic!("{questions:?}") };
    assert_eq!(question, "Second?");
    assert_ne!(first, second);
    let answers = json!({"inputResponses": {key: {"action": "decline"}}, "requestState": second});
    assert_eq!(text(&call(&served, "ask_twice", answers).await), "a Declined");
    assert_eq!(watch.begun.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn questions_asked_at_once_come_together_and_each_is_repeated_until_it_is_answered() {
    let served = Served::of(server(&Watch::default())).await;
    let (questions, state) = asked(&call(&served, "ask_both", json!({})).await);
    let [(other, _), (named, _)] = &questions[..] else { panic!("{questions:?}") };
    assert_eq!(named, "named");
    let answers = json!({"named": accepting("a"), "of nothing": accepting("x")});
    let answers = json!({"inputResponses": answers, "requestState": state});
    let (questions, state) = asked(&call(&served, "ask_both", answers).await);
    assert_eq!(questions, [(other.clone(), "Other?".to_owned())]);
    let nothing = json!({"requestState": state});
    let (questions, state) = asked(&call(&served, "ask_both", nothing).await);
    assert_eq!(questions.len(), 1);
    let answers = json!({"inputResponses": {other: accepting("b")}, "requestState": state});
    assert_eq!(text(&call(&served, "ask_both", answers).await), "a b");
}

#[tokio::test]
async fn a_request_state_counts_once_for_its_own_call_and_its_own_user() {
    let served = Served::of(server(&Watch::default()).check_tokens(Tokens)).await;
    let call = async |token: &str, tool: &str, more: Value| {
        let post = post(&served, tool, &more).bearer_auth(token);
        message(post.send().await.unwrap()).await
    };
    let (questions, state) = asked(&call(ADAS, "ask_twice", json!({})).await);
    let key = &questions[0].0;
    let with =
        |state: &str| json!({"inputResponses": {key: accepting("a")}, "requestState": state});
    let elsewhere = {
        let mut with = with(&state);
        with["arguments"] = json!({"about": " this"});
        with
    };
    for (token, tool, more) in [
        (ADAS, "ask_twice", with(&format!("{state}x"))),
        (ADAS, "ask_both", with(&state)),
        (ADAS, "ask_twice", elsewhere),
        ("bobs", "ask_twice", with(&state)),
    ] {
        let answer = call(token, tool, more).await;
        assert!(refused(&answer).contains("requestState"), "{token} {tool}: {answer}");
    }
    asked(&call(ADAS, "ask_twice", with(&state)).await);
    let again = call(ADAS, "ask_twice", with(&state)).await;
    assert!(refused(&again).contains("requestState"), "{again}");
}

#[tokio::test]
async fn an_answer_that_is_no_object_is_refused_and_the_question_stays_open() {
    let served = Served::of(server(&Watch::default())).await;
    let (questions, state) = asked(&call(&served, "ask_twice", json!({})).await);
    let key = &questions[0].0;
    let wrong = json!({"inputResponses": {key: 12345}, "requestState": state});
    let answer = call(&served, "ask_twice", wrong).await;
    assert!(refused(&answer).contains(key.as_str()), "{answer}");
    let right = json!({"inputResponses": {key: accepting("a")}, "requestState": state});
    assert_eq!(asked(&call(&served, "ask_twice", right).await).0[0].1, "Second?");
    let wrong = json!({"inputResponses": {"named": 12345}});
    refused(&call(&served, "ask_both", wrong).await);
}

#[tokio::test]
async fn only_a_question_with_a_name_takes_an_answer_that_came_before_it() {
    let served = Served::of(server(&Watch::default())).await;
    let (questions, _) = asked(&call(&served, "ask_both", json!({})).await);
    let (other, named) = (&questions[0].0, &questions[1].0);
    let early = json!({"inputResponses": {named: accepting("a"), other: accepting("b")}});
    let (questions, state) = asked(&call(&served, "ask_both", early).await);
    assert_eq!(questions, [(other.clone(), "Other?".to_owned())]);
    let answers = json!({"inputResponses": {other: accepting("c")}, "requestState": state});
    assert_eq!(text(&call(&served, "ask_both", answers).await), "a c");
}

#[tokio::test]
async fn a_tool_that_needs_what_the_client_did_not_declare_is_refused_with_its_name() {
    let served = Served::of(server(&Watch::default())).await;
    let response = post(&served, "need_model", &json!({})).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let answer = message(response).await;
    assert_eq!(answer["error"]["code"], -32021, "{answer}");
    assert_eq!(answer["error"]["data"], json!({"requiredCapabilities": {"sampling": {}}}));
    let answer = call(&served, "want_model", json!({})).await;
    assert_eq!(text(&answer), "without, false");
}

#[tokio::test]
async fn the_user_of_a_client_without_session_decides_when_asked_and_not_before() {
    let served = Served::of(approving(&MemoryStore::new(), false)).await;
    let (questions, state) = asked(&call(&served, "pay", json!({})).await);
    let [(key, question)] = &questions[..] else { panic!("{questions:?}") };
    assert!(question.starts_with("May `pay` run (dangerous, "), "{question}");
    let yes = json!({"action": "accept", "content": {"approve": true}});
    let early = json!({"inputResponses": {key: yes}});
    asked(&call(&served, "pay", early).await);
    let answers = json!({"inputResponses": {key: yes}, "requestState": state});
    assert_eq!(text(&call(&served, "pay", answers).await), "paid");

    let (questions, state) = asked(&call(&served, "pay", json!({})).await);
    let no = json!({"action": "decline"});
    let answers = json!({"inputResponses": {&questions[0].0: no}, "requestState": state});
    let answer = call(&served, "pay", answers).await;
    assert!(text(&answer).contains("the user of the client refused it"), "{answer}");
}

#[tokio::test]
async fn what_a_tool_logs_and_reports_goes_to_the_request_that_is_being_answered() {
    let served = Served::of(server(&Watch::default())).await;
    let call = async |more: Value| {
        let text = post(&served, "ask_twice", &more).send().await.unwrap().text().await.unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
        lines.filter_map(|line| serde_json::from_str(line.trim()).ok()).collect::<Vec<Value>>()
    };
    let sent = |messages: &[Value]| {
        let (_, notes) = messages.split_last().unwrap();
        let notes = notes.iter().map(|it| match it["method"].as_str().unwrap() {
            "notifications/message" => it["params"]["data"].clone(),
            _ => json!([it["params"]["progressToken"], it["params"]["message"]]),
        });
        let mut notes: Vec<String> = notes.map(|note| note.to_string()).collect();
        notes.sort();
        notes
    };
    assert_eq!(sent(&call(json!({})).await), [""; 0]);
    let meta = json!({"progressToken": "one", "io.modelcontextprotocol/logLevel": "info"});
    let first = call(json!({"_meta": meta})).await;
    assert_eq!(sent(&first), ["\"asking\"", "[\"one\",\"asking\"]"]);
    let (questions, state) = asked(first.last().unwrap());
    let answers = json!({"inputResponses": {&questions[0].0: accepting("a")}, "requestState": state,
        "_meta": {"progressToken": "two", "io.modelcontextprotocol/logLevel": "warning"}});
    let second = call(answers).await;
    assert_eq!(sent(&second), ["\"asking again\"", "[\"two\",\"asking again\"]"]);
}

/// Waits until a tool has been dropped.
async fn dropped(watch: &Watch) {
    tokio::time::timeout(Duration::from_secs(20), watch.dropped.notified()).await.unwrap();
}

#[tokio::test]
async fn a_client_that_hangs_up_while_its_answer_is_used_cancels_the_tool() {
    let watch = Watch::default();
    let served = Served::of(server(&watch)).await;
    let (questions, state) = asked(&call(&served, "ask_and_work", json!({})).await);
    let answers =
        json!({"inputResponses": {&questions[0].0: accepting("a")}, "requestState": state});
    let working = async {
        while watch.begun.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        response = post(&served, "ask_and_work", &answers).send() => panic!("{response:?}"),
        () = working => {}
    }
    dropped(&watch).await;
}

#[tokio::test]
async fn a_tool_that_waits_for_an_answer_ends_with_the_server() {
    let watch = Watch::default();
    let served = Served::of(server(&watch)).await;
    asked(&call(&served, "ask_and_work", json!({})).await);
    served.ended.cancel();
    dropped(&watch).await;
}

#[tokio::test]
async fn the_time_limit_of_a_tool_holds_while_it_waits_for_an_answer() {
    let watch = Watch::default();
    let served = Served::of(server(&watch)).await;
    let (questions, state) = asked(&call(&served, "ask_briefly", json!({})).await);
    dropped(&watch).await;
    let answers =
        json!({"inputResponses": {&questions[0].0: accepting("a")}, "requestState": state});
    let late = call(&served, "ask_briefly", answers).await;
    assert_eq!(late["result"]["isError"], true, "{late}");
    assert!(text(&late).contains("timeout"), "{late}");
}

#[tokio::test]
async fn a_request_state_is_refused_where_no_tool_can_have_asked() {
    let executor = Executor::builder(Registry::of([PLAIN]).unwrap()).build().unwrap();
    let served = Served::of(McpServer::new(executor)).await;
    assert_eq!(text(&call(&served, "plain", json!({})).await), "plain");
    let answer = call(&served, "plain", json!({"requestState": "made up"})).await;
    assert!(refused(&answer).contains("requestState"), "{answer}");
}
