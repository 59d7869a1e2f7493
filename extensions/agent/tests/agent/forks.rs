//! A run that is made from the first turns of another, and runs as they are read without their application.

use std::sync::Arc;

use jiff::Timestamp;
use toolwright::journal::{DocumentWrite, Journal, MemoryStore, SealingKey, Store, Transaction};
use toolwright::provider::ToolCall;
use toolwright::retry::RetryPolicy;
use toolwright::{ErrorClass, Executor, OnNoApprover, Registry, ToolError, tool};
use toolwright_agent::durable::{NewRun, Phase, RunError, Runner, Runs};
use toolwright_agent::{
    Agent, Message, ModelAnswer, ModelError, ModelSettings, RunEnd, ScriptedModel, StopReason,
    ToolChoice, check,
};

use crate::support::{ADD, Log};

/// Sends a message.
#[tool(effect = once)]
async fn send(
    log: &Log,
    /// What it says.
    text: String,
) -> String {
    log.add(format!("send {text}"));
    format!("sent {text}")
}

struct World {
    store: Arc<MemoryStore>,
    log: Log,
    sealing: Option<SealingKey>,
}

impl World {
    fn new() -> Self {
        Self { store: Arc::new(MemoryStore::new()), log: Log::default(), sealing: None }
    }

    fn agents(&self, model: ScriptedModel) -> Runner {
        let journal = Journal::shared(Arc::clone(&self.store) as Arc<dyn Store>)
            .on_no_approver(OnNoApprover::Park);
        let journal = self.sealing.clone().into_iter().fold(journal, Journal::sealing_key);
        let executor = Executor::builder(Registry::of([ADD, SEND]).unwrap())
            .unrestricted()
            .service(self.log.clone())
            .journal(journal);
        let agent = Agent::on(executor.build().unwrap(), model).build().unwrap();
        Runner::builder().agent("clerk", agent).build().unwrap()
    }

    fn runs(&self) -> Runs {
        Runs::of(Arc::clone(&self.store) as Arc<dyn Store>)
    }
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: Some(id.to_owned()), name: name.to_owned(), arguments: arguments.to_owned() }
}

/// A run of three turns: a read and an effect, another effect, a text. The model has more to say in others.
async fn ended(world: &World, more: &[&str]) -> Runner {
    let both =
        vec![call("c1", "add", r#"{"a":1,"b":2}"#), call("c2", "send", r#"{"text":"hello"}"#)];
    let model = ScriptedModel::new()
        .answers(ModelAnswer::new("", both))
        .answers(ModelAnswer::new("", vec![call("c3", "send", r#"{"text":"again"}"#)]))
        .says("Done.");
    let model = more.iter().fold(model, |model, text| model.says(*text));
    let agents = world.agents(model);
    agents.start(NewRun::new("r1", "clerk", "greet them").user("ada")).await.unwrap();
    agents
}

fn answers(history: &[Message]) -> Vec<String> {
    let texts = history.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    texts.flat_map(|it| it.iter().map(|(_, answer)| answer.text().into_owned())).collect()
}

#[tokio::test]
async fn a_fork_goes_on_from_its_turn_and_runs_nothing_of_the_other_again() {
    let world = World::new();
    let agents = ended(&world, &["Other.", "Last."]).await;
    let head = agents.fork("r1", 1, "r2").await.unwrap();
    assert_eq!((head.phase, head.turn, head.user.as_deref()), (Phase::Asking, 1, Some("ada")));
    let forked = head.forked.as_ref().map(|it| (it.run.as_str(), it.turn));
    assert_eq!(forked, Some(("r1", 1)));

    assert_eq!(agents.resume("r2").await.unwrap().to_string(), "ended with a text");
    assert_eq!(world.log.lines(), ["add 1 2", "send hello", "send again"]);
    let history = agents.history("r2").await.unwrap();
    assert_eq!(check(&history), Ok(&[] as &[ToolCall]));
    // A read says nothing of where it happened: nothing happened.
    assert_eq!(
        answers(&history),
        ["3", "sent hello\n[this happened in run r1, turn 1, and not again in this run]"]
    );
    assert!(matches!(history.last(), Some(Message::Assistant { text, .. }) if text == "Other."));
    assert_eq!(answers(&agents.history("r1").await.unwrap()).len(), 3);

    // The end of a conversation is one too, and goes on when the user says more.
    let head = agents.fork("r1", 3, "r3").await.unwrap();
    assert_eq!((head.phase, head.ended.as_deref()), (Phase::Ended, Some("text")));
    agents.send("r3", "And now?").await.unwrap();
    assert_eq!(agents.history("r3").await.unwrap().len(), 8);
}

/// Sends a message that does not arrive.
#[tool(effect = once)]
async fn lose() -> Result<(), ToolError> {
    Err(ToolError::new("lost", "it did not arrive").class(ErrorClass::Final).hint("look"))
}

#[tokio::test]
async fn a_fork_says_of_errors_too_where_they_happened_and_is_as_far_as_the_other_run_was() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let executor = Executor::builder(Registry::of([LOSE]).unwrap())
        .unrestricted()
        .retry(RetryPolicy::NONE)
        .journal(Journal::shared(store).on_no_approver(OnNoApprover::Park));
    let model = ScriptedModel::new()
        .answers(ModelAnswer::new("", vec![call("c1", "lose", "{}")]))
        .answers(ModelAnswer::text("I will call").stopped(StopReason::CutInCall))
        .answers(ModelAnswer::text("Cut").stopped(StopReason::CutShort))
        .says("More.")
        .says("After the cut.");
    let agent = Agent::on(executor.build().unwrap(), model).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    agents.start(NewRun::new("r1", "clerk", "send it")).await.unwrap();
    let last = agents.fork("r1", 3, "r2").await.unwrap();
    assert_eq!(last.phase, Phase::Ended);
    let ended = agents.resume("r2").await.unwrap();
    assert!(matches!(ended.ended(), Some(RunEnd::Text { cut_short: true, .. })), "{ended}");
    agents.send("r1", "go on").await.unwrap();
    assert_eq!(agents.fork("r1", 3, "r3").await.unwrap().phase, Phase::Ended);

    // The other run did not end there: its model was asked again.
    assert_eq!(agents.fork("r1", 2, "r4").await.unwrap().phase, Phase::Asking);
    agents.resume("r4").await.unwrap();
    let history = agents.history("r4").await.unwrap();
    let Message::ToolResults(answers) = &history[2] else { panic!("the answers") };
    let hint = answers[0].1.error().unwrap().next_action().unwrap().to_owned();
    assert!(hint.starts_with("look; [this happened in run r1, turn 1"), "{hint}");
    assert!(matches!(&history[4], Message::User { text, .. } if text.contains("cut short")));
    assert!(matches!(&history[5], Message::Assistant { text, .. } if text == "After the cut."));
}

#[tokio::test]
async fn what_cannot_be_forked_is_refused_and_records_nothing() {
    let world = World::new();
    let agents = ended(&world, &[]).await;
    for (run, turn, new, words) in [
        ("r0", 1, "r2", "the journal has no run `r0`"),
        ("r1", 0, "r2", "run `r1` has no turn 0, found 3 turns"),
        ("r1", 4, "r2", "run `r1` has no turn 4, found 3 turns"),
        ("r1", 1, "r1", "the journal has or had a run `r1` already"),
        ("r1", 1, "a/b", "`a/b` cannot be the id of a run"),
    ] {
        let error = agents.fork(run, turn, new).await.unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
    }
    assert_eq!(world.store.documents("run/r2").await.unwrap(), []);
}

#[tokio::test]
async fn a_run_with_a_lost_answer_is_not_forked_as_if_the_answer_were_empty() {
    let world = World::new();
    let agents = ended(&world, &[]).await;
    let key = "run/r1/turn/2/answer".to_owned();
    let expects = world.store.document(&key).await.unwrap().map(|it| it.version);
    let documents = vec![DocumentWrite { key: key.clone(), expects, text: None }];
    let lost = Transaction { documents, ..Transaction::default() };
    world.store.commit(lost, Timestamp::now()).await.unwrap();
    let error = agents.fork("r1", 3, "r2").await.unwrap_err();
    assert!(matches!(&error, RunError::Damaged { key: of, .. } if *of == key), "{error}");
    agents.fork("r1", 1, "r2").await.unwrap();
}

#[tokio::test]
async fn an_encrypted_run_is_forked_with_the_key_of_its_application_alone() {
    let key = SealingKey::from_bytes([7; 32]);
    let world = World { sealing: Some(key), ..World::new() };
    let agents = ended(&world, &["Other."]).await;
    let head = world.runs().head("r1").await.unwrap();
    assert!(Runs::is_encrypted(&head));
    let error = world.runs().fork("r1", 1, "r2", Timestamp::now()).await.unwrap_err();
    assert!(
        matches!(&error, RunError::Damaged { why, .. } if why.contains("encrypted")),
        "{error}"
    );
    agents.fork("r1", 1, "r2").await.unwrap();
    agents.resume("r2").await.unwrap();
    for document in world.store.documents("run/r2").await.unwrap() {
        assert!(!document.text.contains("hello"), "{}", document.text);
    }
}

#[tokio::test]
async fn a_journal_lists_its_runs_and_takes_a_cancellation_without_the_application() {
    let world = World::new();
    let agents = ended(&world, &[]).await;
    let runs = world.runs();
    agents.submit(NewRun::new("r2", "clerk", "later")).await.unwrap();
    let ids = |heads: Vec<Result<_, RunError>>| -> Vec<String> {
        heads
            .into_iter()
            .map(|head: Result<toolwright_agent::durable::Head, _>| head.unwrap().run)
            .collect()
    };
    assert_eq!(ids(runs.list_open().await.unwrap()), ["r2"]);
    assert_eq!(ids(runs.list_ended().await.unwrap()), ["r1"]);
    let turn = runs.turn("r1", 1).await.unwrap();
    assert_eq!((turn.said.len(), turn.answer.map(|it| it.calls().len())), (1, Some(2)));
    assert!(runs.turn("r1", 9).await.unwrap().answer.is_none());

    let now = Timestamp::now();
    assert!(!runs.cancel("r1", "bob", "no more", now).await.unwrap());
    assert!(runs.cancel("r2", "bob", "no more", now).await.unwrap());
    assert!(!runs.cancel("r2", "eve", "again", now).await.unwrap());
    assert_eq!(agents.resume("r2").await.unwrap().to_string(), "cancelled");
    let cancelled = runs.head("r2").await.unwrap().cancelled.unwrap();
    assert_eq!((cancelled.who.as_str(), cancelled.why.as_str()), ("bob", "no more"));
}

#[tokio::test]
async fn a_fork_at_a_text_has_ended_whatever_came_of_what_the_user_said_next() {
    let world = World::new();
    let broken = ModelError::new("broken", "it answers no more");
    let agents = world.agents(ScriptedModel::new().says("Done.").fails(broken));
    agents.start(NewRun::new("r1", "clerk", "greet them")).await.unwrap();
    let failed = agents.send("r1", "And now?").await.unwrap();
    assert!(matches!(failed.ended(), Some(RunEnd::ModelFailed { .. })), "{failed}");
    let head = agents.fork("r1", 1, "r2").await.unwrap();
    assert_eq!((head.phase, head.ended.as_deref()), (Phase::Ended, Some("text")));
    // Also where the user says what a model is told of a value that is none.
    let world = World::new();
    let agents = ended(&world, &["Yes."]).await;
    let words = "[Your answer is not the value that was asked for: say it again]";
    agents.send("r1", words).await.unwrap();
    let head = agents.fork("r1", 3, "r2").await.unwrap();
    assert_eq!(head.phase, Phase::Ended);
    agents.fork("r1", 4, "r3").await.unwrap();
    assert_eq!(agents.history("r3").await.unwrap().len(), 8);
}

#[tokio::test]
async fn a_fork_at_an_answer_that_was_cut_short_asks_again_as_the_run_did_before_its_limit() {
    let world = World::new();
    let cut = ModelAnswer::text("I will call").stopped(StopReason::CutInCall);
    let executor = Executor::builder(Registry::of([ADD]).unwrap()).unrestricted();
    let executor = executor.service(world.log.clone());
    let journal = Journal::shared(Arc::clone(&world.store) as Arc<dyn Store>);
    let executor = executor.journal(journal.on_no_approver(OnNoApprover::Park)).build().unwrap();
    let model = ScriptedModel::new().answers(cut).says("After the cut.");
    let agent = Agent::on(executor, model).max_turns(1).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    let limited = agents.start(NewRun::new("r1", "clerk", "add them")).await.unwrap();
    assert!(matches!(limited.ended(), Some(RunEnd::Limit(_))), "{limited}");
    assert_eq!(agents.fork("r1", 1, "r2").await.unwrap().phase, Phase::Asking);
    agents.resume("r2").await.unwrap();
    let history = agents.history("r2").await.unwrap();
    assert!(matches!(&history[2], Message::User { text, .. } if text.contains("cut short")));
    assert!(matches!(&history[3], Message::Assistant { text, .. } if text == "After the cut."));
}

#[tokio::test]
async fn a_fork_in_the_middle_of_a_turns_work_forces_no_second_call() {
    let world = World::new();
    let model = ScriptedModel::new().calls([("send", r#"{"text":"hello"}"#)]).says("Done.");
    let model = Arc::new(model.says("Other.").says("More."));
    let executor = Executor::builder(Registry::of([SEND]).unwrap()).unrestricted();
    let executor = executor.service(world.log.clone());
    let journal = Journal::shared(Arc::clone(&world.store) as Arc<dyn Store>);
    let executor = executor.journal(journal.on_no_approver(OnNoApprover::Park));
    let settings = ModelSettings::new().tool_choice(ToolChoice::Required);
    let agent = Agent::on(executor.build().unwrap(), Arc::clone(&model)).settings(settings);
    let agents = Runner::builder().agent("clerk", agent.build().unwrap()).build().unwrap();
    agents.start(NewRun::new("r1", "clerk", "greet them")).await.unwrap();
    agents.fork("r1", 1, "r2").await.unwrap();
    agents.resume("r2").await.unwrap();
    agents.send("r2", "And now?").await.unwrap();
    let choices: Vec<ToolChoice> =
        model.requests().into_iter().map(|it| it.settings.tool_choice).collect();
    let (forced, free) = (ToolChoice::Required, ToolChoice::Auto);
    assert_eq!(choices, [forced.clone(), free.clone(), free, forced]);
}
