//! Reads that begin while the model still writes its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Notify;
use toolwright::dialect::Dialect;
use toolwright::journal::MemoryStore;
use toolwright::provider::ToolCall;
use toolwright::{Executor, Registry, tool};
use toolwright_agent::{
    Agent, Delta, Message, Model, ModelAnswer, ModelError, ModelRequest, RunEnd, check,
};

use crate::support::Log;

/// Who waits for a read to begin.
#[derive(Clone, Default)]
struct Began(Arc<Notify>);

/// Looks a word up.
#[tool(effect = read, reads())]
async fn look_up(
    log: &Log,
    began: &Began,
    /// Which.
    word: String,
) -> String {
    log.add(format!("look up {word}"));
    began.0.notify_one();
    format!("the meaning of {word}")
}

/// Sends a message.
#[tool(effect = once, writes())]
async fn send(
    log: &Log,
    /// What.
    text: String,
) -> String {
    log.add(format!("send {text}"));
    format!("sent {text}")
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: Some(id.to_owned()), name: name.to_owned(), arguments: arguments.to_owned() }
}

/// What the model does after it has written its calls.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Then {
    /// Ends its answer when a read has begun.
    Waits,
    /// Is asked again, and calls something else.
    Restarts,
    /// Ends its answer with other arguments than it streamed.
    Differs,
    /// Fails.
    Breaks,
}

struct Streaming {
    then: Then,
    began: Began,
    asked: AtomicUsize,
    log: Log,
}

impl Model for Streaming {
    fn name(&self) -> &str {
        "streaming"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            if self.asked.fetch_add(1, Ordering::SeqCst) > 0 {
                return Ok(ModelAnswer::text("Done."));
            }
            let tea = call("c1", "look_up", r#"{"word":"tea"}"#);
            let letter = call("c2", "send", r#"{"text":"hello"}"#);
            if let Some(listener) = request.listener {
                listener.delta(Delta::CallWhole { index: 0, call: &tea });
                listener.delta(Delta::CallWhole { index: 1, call: &letter });
                self.began.0.notified().await;
                self.log.add("the answer ends".to_owned());
                if self.then == Then::Restarts {
                    listener.delta(Delta::Restarted);
                }
            }
            let coffee = || call("c1", "look_up", r#"{"word":"coffee"}"#);
            match self.then {
                Then::Waits => Ok(ModelAnswer::new("", vec![tea, letter])),
                Then::Restarts | Then::Differs => Ok(ModelAnswer::new("", vec![coffee(), letter])),
                Then::Breaks => Err(ModelError::new("answer_cut", "the answer broke off")),
            }
        })
    }
}

/// What happened, and the answers in the history.
async fn ran(then: Then, is_early: bool) -> (Vec<String>, Vec<String>, RunEnd) {
    let (log, began) = (Log::default(), Began::default());
    let executor = Executor::builder(Registry::of([LOOK_UP, SEND]).unwrap())
        .unrestricted()
        .service(log.clone())
        .service(began.clone())
        .build()
        .unwrap();
    let model = Streaming { then, began, asked: AtomicUsize::new(0), log: log.clone() };
    let agent = Agent::on(executor, model).max_duration(Duration::from_secs(600));
    let agent = if is_early { agent.early_reads() } else { agent };
    let mut run = agent.build().unwrap().new_run("r1").start().unwrap();
    let ended = run.send("go").await.unwrap();
    assert!(check(run.history()).unwrap().is_empty());
    let answers = run.history().iter().filter_map(|message| match message {
        Message::ToolResults(answers) => Some(answers),
        _ => None,
    });
    let answers = answers.flat_map(|it| it.iter().map(|(_, it)| it.text().into_owned()));
    (log.lines(), answers.collect(), ended)
}

#[tokio::test(start_paused = true)]
async fn a_read_begins_before_the_answer_ends_and_what_changes_something_after_it() {
    let (happened, answers, _) = ran(Then::Waits, true).await;
    assert_eq!(happened, ["look up tea", "the answer ends", "send hello"]);
    assert_eq!(answers, ["the meaning of tea", "sent hello"]);
}

#[tokio::test(start_paused = true)]
async fn nothing_begins_early_where_the_application_does_not_ask_for_it() {
    let (happened, answers, _) = ran(Then::Waits, false).await;
    assert_eq!(happened, ["look up tea", "send hello"]);
    assert_eq!(answers.len(), 2);
}

/// The model would wait for ever for a read to begin, were it asked for a stream.
#[tokio::test(start_paused = true)]
async fn nothing_of_a_recorded_run_begins_before_its_answer_is_recorded() {
    let (log, began) = (Log::default(), Began::default());
    let model = Streaming {
        then: Then::Waits,
        began: began.clone(),
        asked: AtomicUsize::new(0),
        log: log.clone(),
    };
    let builder = Agent::builder(model).tools([LOOK_UP, SEND]).service(log.clone());
    let builder = builder.service(began).unrestricted().journal(MemoryStore::new()).early_reads();
    let result = builder.build().unwrap().run("go").id("r1").await.unwrap();
    assert_eq!(result.to_string(), "Done.");
    assert_eq!(log.lines(), ["look up tea", "send hello"]);
}

#[tokio::test(start_paused = true)]
async fn what_began_for_an_answer_that_is_no_longer_the_models_is_in_no_history() {
    for then in [Then::Restarts, Then::Differs] {
        let (happened, answers, _) = ran(then, true).await;
        assert_eq!(happened[..2], ["look up tea", "the answer ends"], "{then:?}");
        assert_eq!(happened.len(), 4, "{then:?}: {happened:?}");
        assert_eq!(answers, ["the meaning of coffee", "sent hello"], "{then:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_an_answer_that_breaks_off_nothing_is_in_the_history_and_nothing_was_changed() {
    let (happened, answers, ended) = ran(Then::Breaks, true).await;
    assert_eq!(happened, ["look up tea", "the answer ends"]);
    assert!(answers.is_empty() && matches!(ended, RunEnd::ModelFailed { .. }), "{ended}");
}
