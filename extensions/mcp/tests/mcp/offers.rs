//! What a server has besides tools, and what it asks of its client.
#![expect(deprecated, reason = "clients of the revisions before 2026-07-28 have logging")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
    ErrorCode, GetPromptRequestParams, Implementation, LoggingLevel,
    LoggingMessageNotificationParam, ProtocolVersion, ReadResourceRequestParams,
    ResourceUpdatedNotificationParam, ServerNotification, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{ClientLifecycleMode, NotificationContext, RequestContext, RunningService};
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceError};
use serde_json::{Value, json};
use tokio::sync::broadcast;
use toolwright::approval::ApproverKey;
use toolwright::journal::{Filter, MemoryStore, Page, Store as _};
use toolwright::policy::Policy;
use toolwright::{
    Content, Executor, Handle, Profile, Profiles, Registry, ToolError, ToolEventKind, tool,
};
use toolwright_mcp::{
    Arguments, Completing, Completions, ConnectedClient, ElicitationApprover, LogLevel, McpServer,
    Prompt, PromptMessage, Prompts, Resource, ResourceContent, Resources,
};

use crate::support::{error, request, text};

/// A client with a user, who gives the same answer to every question.
#[derive(Clone, Default)]
struct Person {
    answer: Option<Value>,
    asked: Arc<Mutex<Vec<String>>>,
    logged: Arc<Mutex<Vec<(LoggingLevel, Value)>>>,
    updated: Arc<tokio::sync::Notify>,
}

impl Person {
    fn answering(answer: Value) -> Self {
        Self { answer: Some(answer), ..Self::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = self.answer.as_ref().map(|_| ElicitationCapability::default());
        ClientConfig::new(capabilities, Implementation::new("person", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let question =
            serde_json::to_value(&request).unwrap()["message"].as_str().unwrap().to_owned();
        self.asked.lock().unwrap().push(question);
        Ok(serde_json::from_value(self.answer.clone().unwrap()).unwrap())
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.logged.lock().unwrap().push((message.level, message.data));
    }

    async fn on_resource_updated(
        &self,
        _: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.updated.notify_one();
    }
}

type Session = RunningService<RoleClient, Person>;

async fn session(server: McpServer, person: Person) -> Session {
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        server.serve(read, write).await.unwrap();
    });
    rmcp::serve_client(person, ours).await.unwrap()
}

async fn call(session: &Session, tool: &str) -> rmcp::model::CallToolResult {
    match session.peer().call_tool_once(request(tool, json!({}))).await.unwrap() {
        rmcp::model::CallToolResponse::Complete(result) => result,
        other => panic!("{other:?}"),
    }
}

/// Pay.
#[tool(unlinked, effect = once, danger = dangerous, writes(), preview = || "pays \u{202e}5 cents".to_owned())]
async fn pay() -> &'static str {
    "paid"
}

/// Delete everything.
#[tool(unlinked, effect = idempotent, danger = critical, writes())]
async fn delete_all() {}

/// Log three messages.
#[tool(unlinked, effect = read, reads())]
async fn log(client: &ConnectedClient) -> &'static str {
    client.log(LogLevel::Debug, "small").await;
    client.log(LogLevel::Warning, json!({"size": "middle"})).await;
    client.log(LogLevel::Emergency, "large").await;
    "logged"
}

/// Ask the user and the model of the client.
#[tool(unlinked, effect = read, reads())]
async fn ask(client: &ConnectedClient) -> Result<String, ToolError> {
    let sampled = client.sample(json!({"messages": [], "maxTokens": 1})).await;
    let kind = sampled.err().map(|error| error.kind().to_owned()).unwrap_or_default();
    let answer = client
        .elicit("How many?", json!({"type": "object", "properties": {"n": {"type": "integer"}}}));
    Ok(format!("{kind} {:?}", answer.await?))
}

pub fn approving(store: &MemoryStore, four_eyes: bool) -> McpServer {
    approving_with(store, four_eyes, Arc::default())
}

/// `failed` counts how often the approver failed.
fn approving_with(store: &MemoryStore, four_eyes: bool, failed: Arc<AtomicUsize>) -> McpServer {
    let approver = ElicitationApprover::default();
    let key = ApproverKey::generate("user of an MCP client").unwrap();
    let builder = Executor::builder(Registry::of([PAY, DELETE_ALL]).unwrap());
    let builder = builder.policy(Policy::builder().four_eyes(four_eyes)).listen(move |event| {
        if let ToolEventKind::ApproverFailed { .. } = event.kind {
            failed.fetch_add(1, Ordering::SeqCst);
        }
    });
    let builder = builder.journal(store.clone()).approver(key, approver.clone());
    McpServer::new(builder.build().unwrap()).approve_by(&approver)
}

#[tokio::test]
async fn the_user_of_a_trusted_client_decides_and_the_journal_says_that_it_was_one() {
    let store = MemoryStore::new();
    let person = Person::answering(json!({"action": "accept", "content": {"approve": true}}));
    let client = session(approving(&store, false), person.clone()).await;
    assert_eq!(text(&call(&client, "pay").await), "paid");
    let asked = person.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with("May `pay` run (dangerous, "), "{asked:?}");
    assert!(asked[0].ends_with("\npays \\u{202e}5 cents"), "{asked:?}");
    let records = store.list(&Filter::default(), Page::first(10)).await.unwrap().calls;
    let decision = records[0].decision.as_ref().unwrap();
    assert!(decision.text.contains("user of an MCP client"), "{}", decision.text);
}

#[tokio::test]
async fn a_user_who_says_no_or_does_not_tick_the_box_lets_nothing_run() {
    for answer in [
        json!({"action": "decline"}),
        json!({"action": "accept", "content": {"approve": false}}),
        json!({"action": "accept", "content": {"approve": "true"}}),
        json!({"action": "accept"}),
    ] {
        let client =
            session(approving(&MemoryStore::new(), false), Person::answering(answer)).await;
        let refused = error(&call(&client, "pay").await);
        assert!(
            refused["message"].as_str().unwrap().contains("the user of the client refused it"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_call_waits_for_another_where_it_is_critical_or_four_eyes_decide_or_the_user_does_not() {
    let yes = json!({"action": "accept", "content": {"approve": true}});
    for (tool, person, four_eyes, times) in [
        ("delete_all", Person::answering(yes.clone()), false, 0),
        ("pay", Person::answering(yes), true, 0),
        ("pay", Person::answering(json!({"action": "cancel"})), false, 1),
        ("pay", Person::default(), false, 0),
    ] {
        let failed = Arc::<AtomicUsize>::default();
        let server = approving_with(&MemoryStore::new(), four_eyes, Arc::clone(&failed));
        let client = session(server, person.clone()).await;
        let waiting = call(&client, tool);
        let waits =
            tokio::time::timeout(std::time::Duration::from_secs(20), waiting).await.unwrap();
        assert_eq!(error(&waits)["error_type"], "approval_required", "{tool}");
        assert_eq!(person.asked().len(), times, "{tool}");
        assert_eq!(failed.load(Ordering::SeqCst), 0, "{tool}");
    }
}

#[tokio::test]
async fn a_client_is_sent_the_messages_of_the_levels_that_it_wants() {
    let executor = Executor::builder(Registry::of([LOG]).unwrap()).per_run::<ConnectedClient>();
    let server = McpServer::new(executor.build().unwrap()).offer_client();
    let person = Person::default();
    let client = session(server, person.clone()).await;
    assert!(client.peer().peer_info().unwrap().capabilities.logging.is_some());
    client.peer().set_level(SetLevelRequestParams::new(LoggingLevel::Warning)).await.unwrap();
    assert_eq!(text(&call(&client, "log").await), "logged");
    let logged = person.logged.lock().unwrap().clone();
    let wanted = [
        (LoggingLevel::Warning, json!({"size": "middle"})),
        (LoggingLevel::Emergency, json!("large")),
    ];
    assert_eq!(logged, wanted);
}

#[tokio::test]
async fn a_tool_asks_the_user_of_its_client_and_not_a_model_that_the_client_has_not() {
    let executor = Executor::builder(Registry::of([ASK]).unwrap()).per_run::<ConnectedClient>();
    let server = McpServer::new(executor.build().unwrap()).offer_client();
    let person = Person::answering(json!({"action": "accept", "content": {"n": 3}}));
    let client = session(server, person.clone()).await;
    let answer = text(&call(&client, "ask").await);
    assert_eq!(answer, r#"unsupported_by_client Accepted(Object {"n": Number(3)})"#);
    assert_eq!(person.asked(), ["How many?"]);
}

struct Library(broadcast::Sender<String>);

impl Resources for Library {
    fn list<'a>(&'a self, _: Option<&'a str>) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(async { Ok(vec![Resource::new("book:1", "one").media_type("text/plain")]) })
    }

    fn templates(&self) -> Vec<Resource> {
        vec![Resource::new("book:{n}", "any")]
    }

    fn changes(&self) -> Option<broadcast::Receiver<String>> {
        Some(self.0.subscribe())
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<ResourceContent>, ToolError>> {
        let text = || ResourceContent::Text { media_type: None, text: "Chapter 1".to_owned() };
        Box::pin(async move { Ok((uri == "book:1").then(text)) })
    }
}

struct Texts;

impl Prompts for Texts {
    fn list(&self) -> Vec<Prompt> {
        vec![Prompt::new("review", "Reviews").argument("path", "the file")]
    }

    fn get<'a>(
        &'a self,
        _: &'a str,
        arguments: &'a Arguments,
        _: &'a ConnectedClient,
    ) -> BoxFuture<'a, Result<Vec<PromptMessage>, ToolError>> {
        let words = format!("Review {}", arguments["path"]);
        Box::pin(async { Ok(vec![PromptMessage::User(Content::text(words))]) })
    }
}

impl Completions for Texts {
    fn complete<'a>(
        &'a self,
        of: &'a Completing,
        _: &'a str,
        typed: &'a str,
        _: &'a Arguments,
    ) -> BoxFuture<'a, Result<Vec<String>, ToolError>> {
        let is_known = *of == Completing::Prompt("review".to_owned());
        let found = (0..if is_known { 150 } else { 0 }).map(move |n| format!("{typed}{n}"));
        Box::pin(async move { Ok(found.collect()) })
    }
}

#[tokio::test]
async fn resources_prompts_and_completions_are_those_of_the_application() {
    let executor = Executor::builder(Registry::empty()).build().unwrap();
    let changes = broadcast::channel(4).0;
    let server = McpServer::new(executor).resources(Library(changes.clone()));
    let person = Person::default();
    let client = session(server.prompts(Texts).completions(Texts), person.clone()).await;
    let peer = client.peer();
    assert_eq!(peer.list_all_resources().await.unwrap()[0].uri, "book:1");
    assert_eq!(peer.list_all_resource_templates().await.unwrap()[0].uri_template, "book:{n}");
    let read = peer.read_resource(ReadResourceRequestParams::new("book:1")).await.unwrap();
    let read = serde_json::to_value(read).unwrap();
    assert_eq!(
        read["contents"][0],
        json!({"uri": "book:1", "mimeType": "text/plain", "text": "Chapter 1"})
    );
    let missing = peer.read_resource(ReadResourceRequestParams::new("book:2")).await;
    let Err(ServiceError::McpError(missing)) = missing else { panic!("{missing:?}") };
    assert!(
        [ErrorCode::RESOURCE_NOT_FOUND, ErrorCode::INVALID_PARAMS].contains(&missing.code),
        "{missing:?}"
    );

    let unreadable = peer.subscribe(SubscribeRequestParams::new("book:2")).await;
    assert!(matches!(unreadable, Err(ServiceError::McpError(_))), "{unreadable:?}");
    peer.subscribe(SubscribeRequestParams::new("book:1")).await.unwrap();
    changes.send("book:1".to_owned()).unwrap();
    let heard = person.updated.notified();
    tokio::time::timeout(std::time::Duration::from_secs(20), heard).await.unwrap();

    assert_eq!(peer.list_all_prompts().await.unwrap()[0].name, "review");
    let unfilled = peer.get_prompt(GetPromptRequestParams::new("review")).await.unwrap_err();
    assert!(
        unfilled.to_string().contains("the argument `path` of the prompt is missing"),
        "{unfilled}"
    );
    let unknown = peer.get_prompt(GetPromptRequestParams::new("reviews")).await.unwrap_err();
    assert!(unknown.to_string().contains("no prompt is called `reviews`"), "{unknown}");
    let arguments = serde_json::from_value(json!({"path": "a.rs"})).unwrap();
    let filled = GetPromptRequestParams::new("review").with_arguments(arguments);
    let filled = serde_json::to_value(peer.get_prompt(filled).await.unwrap()).unwrap();
    assert_eq!(filled["messages"][0]["content"]["text"], "Review a.rs");

    let found = peer.complete_prompt_argument("review", "path", "src/", None).await.unwrap();
    assert_eq!((found.values.len(), found.total, found.has_more), (100, Some(150), Some(true)));
    assert_eq!(found.values[0], "src/0");
}

/// A client of a later revision is notified of the resources that its user may read, and of no other.
#[tokio::test]
async fn a_subscription_without_a_session_is_notified_of_what_its_user_may_read() {
    let executor = Executor::builder(Registry::empty()).build().unwrap();
    let changes = broadcast::channel(4).0;
    let server = McpServer::new(executor).resources(Library(changes.clone()));
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(theirs);
        server.serve(read, write).await.unwrap();
    });
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let discover = ClientLifecycleMode::Discover { preferred_versions };
    let client =
        rmcp::service::serve_client_with_lifecycle(Person::default(), ours, discover).await;
    let client = client.unwrap();
    let both = vec!["book:1".to_owned(), "book:2".to_owned()];
    let filter = SubscriptionFilter::builder().resource_subscriptions(both).build();
    let mut subscription = client.peer().listen(filter).await.unwrap();
    // The subscription is listened to a moment after it was acknowledged.
    while changes.receiver_count() == 0 {
        tokio::task::yield_now().await;
    }
    changes.send("book:2".to_owned()).unwrap();
    changes.send("book:1".to_owned()).unwrap();
    let heard = tokio::time::timeout(std::time::Duration::from_secs(20), subscription.next());
    let Some(ServerNotification::ResourceUpdatedNotification(heard)) =
        heard.await.unwrap().unwrap()
    else {
        panic!("a resource was updated");
    };
    assert_eq!(heard.params.uri, "book:1");
}

#[tokio::test]
async fn a_profile_leaves_the_other_tools_out_of_the_list_and_out_of_reach() {
    const BOTH: [Handle; 2] = [LOG, PAY];
    let executor = Executor::builder(Registry::of(BOTH).unwrap()).per_run::<ConnectedClient>();
    let executor = executor.unrestricted().build().unwrap();
    let profile: Profile = serde_json::from_value(json!(["log"])).unwrap();
    let server =
        McpServer::new(executor).offer_client().profiles(Profiles::of([("logger", profile)]));
    let error = server.clone().profile("loger").unwrap_err();
    assert_eq!(error.to_string(), "no profile is called `loger`; did you mean `logger`?");
    let client = session(server.profile("logger").unwrap(), Person::default()).await;
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["log"]);
    let refused = client.peer().call_tool_once(request("pay", json!({}))).await.unwrap_err();
    assert!(refused.to_string().contains("no tool is called `pay`"), "{refused}");
}
