//! What a server asks of the application that uses it: answered where somebody answers, refused where nobody does.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolwright::{Call, Executor, Registry, ToolContext, ToolError, ToolEventKind, tool};
use toolwright_mcp::{
    Answers, ConnectedClient, Elicit, Elicitation, ElicitationOutcome, McpConfig, McpServer,
    McpServers, Sample,
};

use crate::http::Served;

/// Ask for everything that can be asked for.
#[tool(unlinked, effect = read, reads())]
async fn ask_all(client: &ConnectedClient) -> Result<String, ToolError> {
    let schema = json!({"type": "object", "properties": {
        "tea": {"type": "string", "default": "green"}, "cups": {"type": "integer", "default": 2},
        "milk": {"type": "boolean"},
    }});
    let tea = client.elicit("Which tea?", schema).await?;
    let said = client.sample(json!({"messages": [], "maxTokens": 7})).await?;
    let roots = client.roots().await?;
    Ok(format!("{tea:?}; {}; {}", said["content"]["text"], roots[0].uri))
}

/// Ask for ever.
#[tool(unlinked, effect = read, reads())]
async fn ask_on(client: &ConnectedClient) -> Result<String, ToolError> {
    loop {
        client.elicit("And now?", json!({"type": "object", "properties": {}})).await?;
    }
}

#[derive(Clone, Default)]
struct Person(Arc<Mutex<Vec<Elicitation>>>);

impl Elicit for Person {
    fn elicit<'a>(&'a self, question: &'a Elicitation) -> BoxFuture<'a, ElicitationOutcome> {
        self.0.lock().unwrap().push(question.clone());
        Box::pin(async { ElicitationOutcome::Accepted(question.defaults()) })
    }
}

struct Small;

impl Sample for Small {
    fn sample<'a>(
        &'a self,
        server: &'a str,
        params: &'a Value,
    ) -> BoxFuture<'a, Result<Value, String>> {
        let text = format!("{} tokens for {server}", params["maxTokens"]);
        let content = json!({"type": "text", "text": text});
        Box::pin(
            async move { Ok(json!({"role": "assistant", "model": "small", "content": content})) },
        )
    }
}

async fn called(tool: &str, answers: Option<Answers>) -> String {
    let executor = Executor::builder(Registry::of([ASK_ALL, ASK_ON]).unwrap()).unrestricted();
    let executor = executor.per_run::<ConnectedClient>().build().unwrap();
    let served = Served::of(McpServer::new(executor).offer_client()).await;
    let config = format!("[servers.far]\nurl = \"{}\"\ntrust = \"annotations\"", served.url);
    let servers = McpServers::new(McpConfig::from_toml(&config).unwrap());
    let servers = match answers {
        Some(answers) => servers.answering(answers),
        None => servers,
    };
    let builder = Executor::builder(Registry::empty()).unrestricted();
    let executor = builder.with(servers.clone()).build().unwrap();
    let answer = executor.call(&Call::new(format!("far__{tool}"), "{}")).await;
    servers.close().await;
    answer.text().into_owned()
}

#[tokio::test]
async fn what_a_server_asks_in_the_middle_of_a_call_is_answered_by_the_application() {
    let person = Person::default();
    let answers = Answers::new().elicit(person.clone()).sample(Small).root("file:///tea", "tea");
    let answer = called("ask_all", Some(answers)).await;
    let agreed = r#"Accepted(Object {"cups": Number(2), "tea": String("green")})"#;
    assert!(answer.contains(agreed), "{answer}");
    assert!(answer.contains(r#""7 tokens for far"; file:///tea"#), "{answer}");
    let asked = person.0.lock().unwrap();
    assert_eq!((asked.len(), &*asked[0].server, &*asked[0].message), (1, "far", "Which tea?"));
}

#[tokio::test]
async fn what_nobody_answers_is_refused_and_servers_know_it_beforehand() {
    for answers in [None, Some(Answers::new().sample(Small))] {
        let answer = called("ask_all", answers).await;
        assert!(answer.contains("Missing required client capability"), "{answer}");
    }
}

#[tokio::test]
async fn a_server_that_asks_for_ever_is_given_up() {
    let person = Person::default();
    let answer = called("ask_on", Some(Answers::new().elicit(person.clone()))).await;
    assert!(answer.contains("asked 16 times in the middle of one call"), "{answer}");
    assert_eq!(person.0.lock().unwrap().len(), 16);
}

/// Who has heard both reports of a tool.
#[derive(Clone, Default)]
struct Heard(Arc<Notify>);

/// Count to two, and say so.
#[tool(unlinked, effect = read, reads())]
async fn count(heard: &Heard, context: &ToolContext) -> u8 {
    context.progress("one\u{202e}", Some(0.5));
    context.progress(&"x".repeat(9_000), Some(0.75));
    heard.0.notified().await;
    2
}

#[tokio::test]
async fn what_another_server_reports_of_a_call_is_the_progress_of_the_call_here() {
    let heard = Heard::default();
    let executor = Executor::builder(Registry::of([COUNT]).unwrap()).unrestricted();
    let executor = executor.service(heard.clone()).build().unwrap();
    let served = Served::of(McpServer::new(executor)).await;
    let config = format!("[servers.far]\nurl = \"{}\"\ntrust = \"annotations\"", served.url);
    let servers = McpServers::new(McpConfig::from_toml(&config).unwrap());
    let builder = Executor::builder(Registry::empty()).unrestricted().with(servers.clone());
    let executor = builder.build().unwrap();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let run = executor.run("r1").on_progress({
        let reports = Arc::clone(&reports);
        move |event| {
            if let ToolEventKind::Progress { message, part } = event.kind {
                let mut reports = reports.lock().unwrap();
                reports.push((message.to_owned(), part));
                if reports.len() == 2 {
                    heard.0.notify_one();
                }
            }
        }
    });
    let answer = run.start().unwrap().call(&Call::new("far__count", "{}")).await;
    servers.close().await;
    assert!(answer.text().contains("\n2\n"), "{}", answer.text());
    let reports = reports.lock().unwrap();
    // Two that follow each other at once come in either order.
    assert!(reports.contains(&("one\\u{202e}".to_owned(), Some(0.5))), "{reports:?}");
    assert!(reports.contains(&("x".repeat(500), Some(0.75))), "{reports:?}");
}
