//! Servers that ask too much, and servers that talk too much.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use serde_json::json;
use toolwright::{Answer, Call, ErrorClass, Executor, Registry, ToolError, tool};
use toolwright_mcp::{
    Answers, ConnectedClient, Elicit, Elicitation, ElicitationOutcome, McpConfig, McpServer,
    McpServers,
};

use crate::client::{configuration, kind};
use crate::http::Served;

/// Answers each question, and counts the questions and how many are answered at once.
#[derive(Clone, Default)]
struct Person {
    asked: Arc<AtomicUsize>,
    at_once: Arc<AtomicUsize>,
    most_at_once: Arc<AtomicUsize>,
}

impl Elicit for Person {
    fn elicit<'a>(&'a self, _: &'a Elicitation) -> BoxFuture<'a, ElicitationOutcome> {
        Box::pin(async {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let at_once = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_at_once.fetch_max(at_once, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(5)).await;
            self.at_once.fetch_sub(1, Ordering::SeqCst);
            ElicitationOutcome::Declined
        })
    }
}

/// An application that uses the server `peer`, and answers its questions.
struct Application {
    servers: McpServers,
    executor: Executor,
    folder: tempfile::TempDir,
}

impl Application {
    fn answering(answers: Answers, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = configuration(folder.path(), &format!("trust = \"annotations\"\n{more}"));
        let servers = McpServers::new(config).answering(answers);
        let builder = Executor::builder(Registry::empty()).unrestricted();
        let executor = builder.timeout(Some(Duration::from_secs(60))).with(servers.clone());
        Self { servers, executor: executor.build().unwrap(), folder }
    }

    async fn call(&self, tool: &str) -> Answer {
        self.executor.call(&Call::new(tool.to_owned(), "{}")).await
    }

    async fn times_heard(&self, times: usize) {
        for _ in 0..400 {
            let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap();
            if log.lines().filter(|line| line.starts_with("heard")).count() >= times {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the server has not heard {times} answers");
    }
}

/// The server asks 20 times at once.
#[tokio::test]
async fn of_the_questions_of_a_server_in_one_call_16_are_answered_one_after_the_other() {
    let person = Person::default();
    let application = Application::answering(Answers::new().elicit(person.clone()), "");
    assert!(application.call("peer__nag").await.text().contains("asked"));
    assert!(!application.call("peer__meta").await.is_error());
    application.times_heard(20).await;
    let asked = person.asked.load(Ordering::SeqCst);
    assert!((1..=16).contains(&asked), "{asked}");
    assert_eq!(person.most_at_once.load(Ordering::SeqCst), 1);
    application.servers.close().await;
}

/// Ask 17 questions at once.
#[tool(unlinked, effect = read, reads())]
async fn ask_many(client: &ConnectedClient) -> Result<(), ToolError> {
    let schema = json!({"type": "object", "properties": {}});
    let questions = (0..17).map(|_| client.elicit("And now?", schema.clone()));
    join_all(questions).await.into_iter().try_for_each(|answer| answer.map(drop))
}

#[tokio::test]
async fn a_server_that_asks_17_questions_at_once_is_given_up_after_16() {
    let executor = Executor::builder(Registry::of([ASK_MANY]).unwrap()).unrestricted();
    let executor = executor.per_run::<ConnectedClient>().build().unwrap();
    let served = Served::of(McpServer::new(executor).offer_client()).await;
    let config = format!("[servers.far]\nurl = \"{}\"\ntrust = \"annotations\"", served.url);
    let person = Person::default();
    let servers = McpServers::new(McpConfig::from_toml(&config).unwrap());
    let servers = servers.answering(Answers::new().elicit(person.clone()));
    let builder = Executor::builder(Registry::empty()).unrestricted();
    let executor = builder.with(servers.clone()).build().unwrap();
    let answer = executor.call(&Call::new("far__ask_many", "{}")).await;
    assert_eq!(kind(&answer), "asked_without_end", "{}", answer.text());
    assert_eq!(person.asked.load(Ordering::SeqCst), 16);
    servers.close().await;
}

/// Thinks for ever, and notes when it no longer has to.
#[derive(Clone, Default)]
struct Thinker {
    is_asked: Arc<AtomicBool>,
    is_left: Arc<AtomicBool>,
}

impl Elicit for Thinker {
    fn elicit<'a>(&'a self, _: &'a Elicitation) -> BoxFuture<'a, ElicitationOutcome> {
        struct Left<'a>(&'a AtomicBool);
        impl Drop for Left<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        Box::pin(async {
            let _left = Left(&self.is_left);
            self.is_asked.store(true, Ordering::SeqCst);
            std::future::pending().await
        })
    }
}

#[tokio::test]
async fn a_person_is_no_longer_asked_a_question_that_the_server_has_taken_back() {
    let thinker = Thinker::default();
    let application = Application::answering(Answers::new().elicit(thinker.clone()), "");
    assert!(application.call("peer__regret").await.text().contains("never mind"));
    assert!(thinker.is_asked.load(Ordering::SeqCst));
    for _ in 0..400 {
        if thinker.is_left.load(Ordering::SeqCst) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the person is still asked");
}

/// Each report has a megabyte. The call may take ten times its time-out.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_ends_though_its_server_reports_progress_without_a_pause() {
    let application = Application::answering(Answers::new(), "timeout = 1");
    let reports = Arc::new(Mutex::new(0));
    let run = application.executor.run("r1").on_progress({
        let reports = Arc::clone(&reports);
        move |_| *reports.lock().unwrap() += 1
    });
    let run = run.start().unwrap();
    let call = Call::new("peer__chatter", "{}");
    let answer = tokio::time::timeout(Duration::from_secs(40), run.call(&call)).await;
    assert_eq!(kind(&answer.expect("the call ends")), "timeout");
    assert!(*reports.lock().unwrap() > 0);
    application.servers.close().await;
}

/// The server has worked on the call, so it is not made again.
#[tokio::test]
async fn an_answer_of_the_wrong_shape_is_not_taken_for_the_death_of_its_server() {
    let application = Application::answering(Answers::new(), "");
    let answer = application.call("peer__empty").await;
    let error = answer.error().unwrap();
    assert_eq!((error.kind(), error.classified()), ("unsupported_answer", ErrorClass::Unknown));
    application.servers.close().await;
}

#[tokio::test]
async fn the_longest_time_out_that_can_be_written_is_one() {
    let more = format!("timeout = {}", i64::MAX);
    let application = Application::answering(Answers::new(), &more);
    let answer = application.call("peer__meta").await;
    assert!(!answer.is_error(), "{}", answer.text());
    application.servers.close().await;
}
