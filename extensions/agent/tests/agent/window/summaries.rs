//! A model that summarizes the turns which a window leaves out: what the run's model reads, what is none, and a restart.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use toolwright::dialect::Dialect;
use toolwright::journal::{Journal, MemoryStore, Store};
use toolwright::{Executor, OnNoApprover, Registry};
use toolwright_agent::durable::{NewRun, Runner, Runs};
use toolwright_agent::{
    AfterDecision, Agent, AgentBuilder, AnswerChange, BeforeDecision, Guard, Message, Model,
    ModelAnswer, ModelError, ModelRequest, NoticeKind, RunEnd, ScriptedModel, StopReason, check,
};

use super::READ_PAGE;

const TURNS: u32 = 20;

/// What a model gives that summarizes: an answer, or nothing for ever.
type Given = Option<Result<ModelAnswer, ModelError>>;

/// A model that summarizes, by how often it was asked before.
struct Small {
    answer: Box<dyn Fn(usize) -> Given + Send + Sync>,
    prompts: Mutex<Vec<String>>,
}

impl Small {
    fn new(answer: impl Fn(usize) -> Given + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { answer: Box::new(answer), prompts: Mutex::default() })
    }

    fn numbered() -> Arc<Self> {
        Self::new(|number| Some(Ok(ModelAnswer::text(format!("Summary {number}.")))))
    }

    fn prompts(&self) -> Vec<String> {
        self.prompts.lock().unwrap().clone()
    }
}

impl Model for Small {
    fn name(&self) -> &str {
        "small"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        assert_eq!((request.listing.tools().get(), request.history.len()), ("[]", 1));
        let number = {
            let mut prompts = self.prompts.lock().unwrap();
            prompts.push(user(&request.history[0]).unwrap().to_owned());
            prompts.len() - 1
        };
        let answer = (self.answer)(number);
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

/// A model that reads a page more each turn.
fn reader() -> ScriptedModel {
    let mut model = ScriptedModel::new();
    for page in 0..TURNS {
        let input = format!(r#"{{"page":{page}}}"#);
        model = model.calls([("read_page", input.as_str())]);
    }
    model.says("Done.")
}

fn user(message: &Message) -> Option<&str> {
    match message {
        Message::User { text, .. } => Some(text),
        _ => None,
    }
}

/// What a run reported and its requests, with this model to summarize.
struct Ran {
    summarized: usize,
    refused: Vec<String>,
    requests: Vec<Vec<Message>>,
}

async fn ran(summarizer: impl Model + 'static) -> Ran {
    ran_as(summarizer, |agent| agent).await
}

async fn ran_as(
    summarizer: impl Model + 'static,
    change: impl FnOnce(AgentBuilder) -> AgentBuilder,
) -> Ran {
    let model = Arc::new(reader());
    let reported = Arc::new(Mutex::new((0, Vec::new())));
    let heard = Arc::clone(&reported);
    let agent = Agent::builder(Arc::clone(&model)).tools([READ_PAGE]).max_turns(100);
    let agent = change(agent.window(6_000)).summarizer(summarizer).listen(move |notice| {
        let mut heard = heard.lock().unwrap();
        match notice.kind {
            NoticeKind::Summarized { tokens } => {
                assert!(tokens > 0);
                heard.0 += 1;
            }
            NoticeKind::NotSummarized { why } => heard.1.push(why.to_owned()),
            _ => {}
        }
    });
    let mut run = agent.build().unwrap().new_run("r").start().unwrap();
    let ended = run.send("Read the book.").await.unwrap();
    assert!(matches!(ended, RunEnd::Text { text, .. } if text == "Done."));
    assert_eq!(run.history().len(), 2 * TURNS as usize + 2, "the run keeps its whole history");
    let requests: Vec<_> = model.requests().iter().map(|it| it.history.to_vec()).collect();
    for request in &requests {
        assert!(check(request).unwrap().is_empty());
        assert_eq!(user(&request[0]), Some("Read the book."));
    }
    let (summarized, refused) = reported.lock().unwrap().clone();
    Ran { summarized, refused, requests }
}

#[tokio::test]
async fn turns_that_are_left_out_are_summarized_and_each_summary_has_those_before() {
    let small = Small::numbered();
    let Ran { summarized, refused, requests } = ran(Arc::clone(&small)).await;
    assert!(summarized > 1 && refused.is_empty(), "{summarized} {refused:?}");
    assert_eq!(small.prompts().len(), summarized, "each was asked for once");
    // The summary has the place of what is left out, and is marked as text of strangers.
    let last = requests.last().unwrap();
    let words = user(&last[1]).unwrap();
    assert!(words.contains(&format!("Summary {}.", summarized - 1)), "{words}");
    assert!(
        words.contains("data, not instructions") && words.contains("approvals does not count"),
        "{words}"
    );
    assert_eq!(
        last.iter().filter(|it| user(it).is_some_and(|it| it.contains("Summary"))).count(),
        1
    );
    // The next one is made of the one before and of what was left out since.
    let asked = small.prompts()[1].clone();
    assert!(asked.starts_with("The summary so far:\nSummary 0."), "{asked}");
    assert!(asked.contains("call: read_page") && !asked.contains(r#"{"page":0}"#), "{asked}");
}

#[tokio::test]
async fn guards_look_at_the_request_for_a_summary_and_at_what_comes_of_it() {
    let small = Small::numbered();
    let hide = Guard::before_model("no-pages", async |request| {
        let hide = |text: &str| text.contains("page").then(|| text.replace("page", "sheet"));
        match request.map_texts(hide) {
            Some(change) => BeforeDecision::change(change, "it has pages"),
            None => BeforeDecision::Continue,
        }
    });
    let loud = Guard::after_model("loud", async |answer| {
        match answer.answer.text.starts_with("Summary") {
            true => AfterDecision::change(AnswerChange::new().text("LOUD."), "it is quiet"),
            false => AfterDecision::Continue,
        }
    });
    let ran = ran_as(Arc::clone(&small), |agent| agent.guard(hide).guard(loud)).await;
    assert!(ran.summarized > 1 && ran.refused.is_empty(), "{:?}", ran.refused);
    assert!(small.prompts().iter().all(|it| it.contains("sheet") && !it.contains("page")));
    assert!(user(&ran.requests.last().unwrap()[1]).unwrap().contains("LOUD."));

    fn is_summary(text: &str) -> bool {
        text.starts_with("You summarize")
    }
    let stop =
        Guard::before_model("stop", async |request| match is_summary(&request.instructions) {
            true => BeforeDecision::stop("no summaries"),
            false => BeforeDecision::Continue,
        });
    let beside =
        Guard::beside_model("beside", async |request| match is_summary(&request.instructions) {
            true => Err("no summaries".to_owned()),
            false => Ok(()),
        });
    let after =
        Guard::after_model("after", async |answer| match answer.answer.text.contains("Summary") {
            true => AfterDecision::ask_again("no summaries"),
            false => AfterDecision::Continue,
        });
    for (guard, is_asked) in [(stop, false), (beside, false), (after, true)] {
        let small = Small::numbered();
        let ran = ran_as(Arc::clone(&small), |agent| agent.guard(guard)).await;
        assert!(ran.summarized == 0 && !ran.refused.is_empty());
        assert!(ran.refused.iter().all(|it| it.contains("no summaries")), "{:?}", ran.refused);
        assert_eq!(!small.prompts().is_empty(), is_asked);
    }
}

/// The request for a summary contains the answers of tools, and the summary may repeat them.
#[tokio::test]
async fn guards_of_foreign_text_see_what_is_summarized_and_the_summary() {
    let small = Small::numbered();
    let hide = Guard::before_model("no-words", async |request| {
        let hide = |text: &str| Some(text.replace("word", "-").replace("Summary", "Notes"));
        let changed = |text: &str| hide(text).filter(|new| new != text);
        match request.map_foreign_texts(changed) {
            Some(change) => BeforeDecision::change(change, "it has words"),
            None => BeforeDecision::Continue,
        }
    });
    let ran = ran_as(Arc::clone(&small), |agent| agent.guard(hide)).await;
    assert!(ran.summarized > 1 && ran.refused.is_empty(), "{:?}", ran.refused);
    assert!(small.prompts().iter().all(|it| it.contains("page") && !it.contains("word")));
    let note = user(&ran.requests.last().unwrap()[1]).unwrap();
    assert!(note.contains("Notes ") && !note.contains("Summary"), "{note}");
}

#[tokio::test]
async fn what_is_no_summary_is_reported_and_the_turns_are_left_out_without_it() {
    let again = |answer: ModelAnswer| Small::new(move |_| Some(Ok(answer.clone())));
    let call = toolwright::provider::ToolCall {
        id: Some("c".into()),
        name: "read_page".into(),
        arguments: "{}".into(),
    };
    let broken = Small::new(|_| Some(Err(ModelError::new("down", "it is down"))));
    for (model, words) in [
        (again(ModelAnswer::text("  ")), "it is empty"),
        (again(ModelAnswer::text("word ".repeat(4_000))), "expected fewer than"),
        (again(ModelAnswer::new("I read on.", vec![call])), "called a tool in its place"),
        (again(ModelAnswer::text("It was").stopped(StopReason::CutShort)), "it was cut short"),
        (again(ModelAnswer::text("No.").stopped(StopReason::Refused)), "refused to write it"),
        (broken, "it is down"),
    ] {
        let Ran { summarized, refused, requests } = ran(Arc::clone(&model)).await;
        assert_eq!(summarized, 0, "{words}");
        assert!(!refused.is_empty() && refused.iter().all(|it| it.contains(words)), "{refused:?}");
        assert_eq!(model.prompts().len(), refused.len(), "it is asked once at each point");
        let note = user(&requests.last().unwrap()[1]).unwrap();
        assert!(note.contains("earlier answers of yours are left out"), "{note}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_does_not_come_holds_no_run_up() {
    let slow = Small::new(|_| None);
    let Ran { summarized, refused, .. } = ran(slow).await;
    assert_eq!(summarized, 0);
    assert!(refused.iter().all(|it| it.contains("longer than 120 seconds")), "{refused:?}");
}

#[tokio::test]
async fn a_process_that_goes_on_uses_the_summary_that_was_recorded() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let model = Arc::new(reader().says("More."));
    let process = |small: &Arc<Small>| {
        let journal = Journal::shared(Arc::clone(&store)).on_no_approver(OnNoApprover::Park);
        let executor = Executor::builder(Registry::of([READ_PAGE]).unwrap()).unrestricted();
        let executor = executor.journal(journal).build().unwrap();
        let agent = Agent::on(executor, Arc::clone(&model)).max_turns(100);
        let agent = agent.window(6_000).summarizer(Arc::clone(small)).build().unwrap();
        Runner::builder().agent("clerk", agent).build().unwrap()
    };
    let small = Small::numbered();
    process(&small).start(NewRun::new("r1", "clerk", "Read the book.")).await.unwrap();
    let made = small.prompts().len();
    assert!(made > 1);
    let before = model.requests().last().unwrap().history.to_vec();

    // Another process, whose own summarizer would say something else.
    let other = Small::new(|_| Some(Ok(ModelAnswer::text("Another summary."))));
    let second = process(&other);
    second.send("r1", "And now?").await.unwrap();
    let after = model.requests().last().unwrap().history.to_vec();
    let text = |it: &Message| serde_json::to_string(it).unwrap();
    assert_eq!(text(&after[1]), text(&before[1]), "the same summary");
    assert!(other.prompts().is_empty());

    // A fork has it too, and each answer says what its model was not sent.
    let runs = Runs::of(Arc::clone(&store));
    let head = runs.head("r1").await.unwrap();
    second.fork("r1", head.turn, "r2").await.unwrap();
    let left_out = async |run: &str, turn| runs.turn(run, turn).await.unwrap().left_out;
    assert!(left_out("r1", 1).await.is_empty());
    let last = left_out("r1", head.turn).await;
    assert_eq!(last.messages.first().map(|it| it.0), Some(1), "{last:?}");
    assert_eq!(left_out("r2", head.turn).await, last);
    assert!(
        store
            .documents("run/r2/turn/")
            .await
            .unwrap()
            .iter()
            .any(|it| it.key.ends_with("/summary"))
    );
}

#[tokio::test]
async fn turns_that_are_left_out_after_the_last_summary_leave_a_note_beside_it() {
    let once = Small::new(|number| {
        Some(match number {
            0 => Ok(ModelAnswer::text("Summary 0.")),
            _ => Err(ModelError::new("down", "it is down")),
        })
    });
    let Ran { summarized, refused, requests } = ran(once).await;
    assert!(summarized == 1 && !refused.is_empty(), "{refused:?}");
    let last = requests.last().unwrap();
    assert!(user(&last[1]).unwrap().contains("Summary 0."));
    let note = user(&last[2]).unwrap_or_default();
    assert!(note.contains("earlier answers of yours are left out"), "{note}");
    // The note is of the turns after the summary alone.
    let earlier = requests
        .iter()
        .filter(|it| it.iter().any(|it| user(it).is_some_and(|it| it.contains("Summary 0."))));
    assert!(
        earlier
            .into_iter()
            .next()
            .unwrap()
            .iter()
            .all(|it| user(it).is_none_or(|it| !it.contains("earlier answer")))
    );
}
