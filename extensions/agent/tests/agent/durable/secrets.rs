//! Secrets in the record of a run, and the services that a run needs.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use toolwright::journal::{
    DocumentWrite, Journal, MemoryStore, SealingKey, Store, StoredText, Transaction,
};
use toolwright::{ErrorClass, Executor, OnNoApprover, Registry, tool};
use toolwright_agent::durable::{NewRun, RunError, Runner, RunnerError};
use toolwright_agent::{Agent, ModelAnswer, ModelError, ScriptedModel, StartError};

use super::process::{Provider, calls};

/// Logs in.
#[tool(effect = keyed)]
async fn log_in(
    /// The password.
    #[arg(secret)]
    password: String,
) -> usize {
    password.len()
}

/// What a run is about.
struct Ticket(u64);

/// Tells the number of the ticket.
#[tool(effect = read)]
async fn ticket_number(ticket: &Ticket) -> u64 {
    ticket.0
}

fn executor(store: &MemoryStore) -> toolwright::ExecutorBuilder {
    Executor::builder(Registry::of([LOG_IN]).unwrap())
        .unrestricted()
        .journal(Journal::new(store.clone()).on_no_approver(OnNoApprover::Park))
}

#[test]
fn a_tool_that_takes_a_secret_needs_a_sealing_key() {
    let executor = executor(&MemoryStore::new()).build().unwrap();
    let agent = Agent::on(executor, ScriptedModel::new()).build().unwrap();
    let error = Runner::builder().agent("clerk", agent).build().unwrap_err();
    assert_eq!(error, RunnerError::NoSealingKey { agent: "clerk".into(), tool: "log_in".into() });
}

#[test]
fn agents_of_one_journal_have_one_sealing_key_one_lease_and_one_clock() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let key = SealingKey::generate().unwrap();
    let other = SealingKey::generate().unwrap();
    let ahead = |key: Option<&SealingKey>, lease: u64, seconds: i64| {
        let journal = Journal::shared(Arc::clone(&store))
            .on_no_approver(OnNoApprover::Park)
            .lease(Duration::from_secs(lease))
            .clock(move || Timestamp::now() + SignedDuration::from_secs(seconds));
        let journal = key.cloned().into_iter().fold(journal, Journal::sealing_key);
        let executor = Executor::builder(Registry::of([TICKET_NUMBER]).unwrap())
            .unrestricted()
            .per_run::<Ticket>()
            .journal(journal);
        Agent::on(executor.build().unwrap(), ScriptedModel::new()).build().unwrap()
    };
    let agent = |key: Option<&SealingKey>, lease: u64| ahead(key, lease, 0);
    let built = |one, two| {
        let agents = Runner::builder().services(|_, builder| Ok(builder.with(Ticket(7))));
        agents.agent("a", one).agent("b", two).build().map(|_| ())
    };
    let differs = |what| Err(RunnerError::Differs { agent: "b".into(), what });
    assert_eq!(built(agent(None, 30), agent(Some(&key), 30)), differs("sealing key"));
    assert_eq!(built(agent(Some(&other), 30), agent(Some(&key), 30)), differs("sealing key"));
    assert_eq!(built(agent(Some(&key), 30), agent(Some(&key), 60)), differs("lease"));
    assert_eq!(built(agent(None, 30), ahead(None, 30, 60)), differs("clock"));
    assert_eq!(built(agent(None, 30), ahead(None, 30, -60)), differs("clock"));
    assert_eq!(built(agent(Some(&key), 30), agent(Some(&key), 30)), Ok(()));
}

#[tokio::test]
async fn with_a_sealing_key_no_document_shows_what_was_said_or_called() {
    let store = MemoryStore::new();
    let key = SealingKey::generate().unwrap();
    let journal = Journal::new(store.clone()).on_no_approver(OnNoApprover::Park);
    let executor = executor(&store).journal(journal.sealing_key(key)).build().unwrap();
    let model = Provider::new([
        calls([("log_in", r#"{"password":"hunter2"}"#)]),
        ModelAnswer::text("I used hunter2."),
    ]);
    let agent = Agent::on(executor, model).build().unwrap();
    let agents = Runner::builder().agent("clerk", agent).build().unwrap();
    let run = NewRun::new("r1", "clerk", "my password is hunter2")
        .data(serde_json::json!({ "password": "hunter2" }));
    agents.start(run).await.unwrap();
    for document in store.documents("run").await.unwrap() {
        assert!(!document.text.contains("hunter2"), "{}: {}", document.key, document.text);
    }
    let history = serde_json::to_string(&agents.history("r1").await.unwrap()).unwrap();
    assert_eq!(history.matches("hunter2").count(), 3);
}

#[tokio::test]
async fn with_a_sealing_key_the_head_does_not_store_the_message_of_an_outage() {
    for key in [None, Some(SealingKey::generate().unwrap())] {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone()).on_no_approver(OnNoApprover::Park);
        let journal = key.clone().into_iter().fold(journal, Journal::sealing_key);
        let executor = Executor::builder(Registry::empty()).journal(journal).build().unwrap();
        let away = ModelError::new("overloaded", "it is busy with: my password is hunter2");
        let away = away.class(ErrorClass::NotStarted { retry_after: None });
        let agent = Agent::on(executor, ScriptedModel::new().fails(away)).build().unwrap();
        let agents = Runner::builder().agent("clerk", agent).build().unwrap();
        let run = NewRun::new("r1", "clerk", "my password is hunter2");
        // The process that has asked says why.
        let error = agents.start(run).await.unwrap_err().to_string();
        assert!(error.contains("(overloaded: it is busy with: my password is hunter2)"), "{error}");
        let head = store.document("run/r1/head").await.unwrap().unwrap();
        assert_eq!(head.text.contains("hunter2"), key.is_none(), "{}", head.text);
        assert!(head.text.contains("overloaded"), "{}", head.text);
    }
}

/// Changes the head of `r1` by hand.
async fn change(store: &MemoryStore, change: impl FnOnce(&mut Value)) {
    let found = store.document("run/r1/head").await.unwrap().unwrap();
    let mut head: Value = serde_json::from_str(&found.text).unwrap();
    change(&mut head);
    let (key, expects) = (found.key, Some(found.version));
    let documents = vec![DocumentWrite { key, expects, text: Some(head.to_string()) }];
    let unit = Transaction { documents, ..Transaction::default() };
    store.commit(unit, Timestamp::now()).await.unwrap();
}

#[tokio::test]
async fn a_sealed_run_goes_on_for_no_other_agent_user_or_session_than_its_own() {
    let store = MemoryStore::new();
    let shared: Arc<dyn Store> = Arc::new(store.clone());
    let key = SealingKey::generate().unwrap();
    let model = Provider::new([ModelAnswer::text("Hello."), ModelAnswer::text("Bye.")]);
    let agent = || {
        let journal = Journal::shared(Arc::clone(&shared)).sealing_key(key.clone());
        let executor = executor(&store).journal(journal.on_no_approver(OnNoApprover::Park));
        Agent::on(executor.build().unwrap(), model.clone()).build().unwrap()
    };
    let agents = Runner::builder().agent("clerk", agent()).agent("chief", agent());
    let agents = agents.build().unwrap();
    agents.submit(NewRun::new("r1", "clerk", "Hello!").user("ada")).await.unwrap();
    for (field, other) in [("user", "eve"), ("session", "s2"), ("agent", "chief")] {
        let mut own = Value::Null;
        change(&store, |head| own = std::mem::replace(&mut head[field], other.into())).await;
        let error = agents.resume("r1").await.unwrap_err();
        let key = "run/r1/head#state";
        assert!(matches!(&error, RunError::Damaged { key: at, .. } if at == key), "{error}");
        change(&store, |head| head[field] = own).await;
    }
    assert!(agents.resume("r1").await.unwrap().ended().is_some());

    // An earlier release encrypted the state for the run alone.
    change(&store, |head| {
        let sealed = head["state"]["sealed"].as_str().unwrap();
        let bound = br#"run/r1/head#state of ["clerk","ada",null]"#;
        let state = key.open(&StoredText::Encrypted(sealed.to_owned()), bound).unwrap();
        let StoredText::Encrypted(sealed) = key.seal(&state, b"run/r1/head#state").unwrap() else {
            panic!("it is encrypted")
        };
        head["state"]["sealed"] = sealed.into();
    })
    .await;
    assert!(agents.send("r1", "Good-bye!").await.unwrap().ended().is_some());
}

fn with_ticket(store: &MemoryStore) -> Agent {
    let executor = Executor::builder(Registry::of([TICKET_NUMBER]).unwrap())
        .unrestricted()
        .per_run::<Ticket>()
        .journal(Journal::new(store.clone()).on_no_approver(OnNoApprover::Park))
        .build()
        .unwrap();
    let model = Provider::new([calls([("ticket_number", "{}")]), ModelAnswer::text("7.")]);
    Agent::on(executor, model).build().unwrap()
}

#[tokio::test]
async fn a_missing_service_is_an_error_when_agents_are_built_or_begin_to_work() {
    let store = MemoryStore::new();
    let error = Runner::builder().agent("clerk", with_ticket(&store)).build().unwrap_err();
    assert!(matches!(error, RunnerError::NoServices { .. }), "{error}");

    let made = Runner::builder().agent("clerk", with_ticket(&store)).services(|run, builder| {
        Ok(builder.with(Ticket(run.data()["ticket"].as_u64().ok_or("the run has no ticket")?)))
    });
    let agents = made.build().unwrap();
    let without = agents.submit(NewRun::new("r0", "clerk", "which?")).await.unwrap_err();
    assert_eq!(
        without.to_string(),
        "the services of run `r0` could not be made: the run has no ticket"
    );
    let run = NewRun::new("r1", "clerk", "which?").data(serde_json::json!({ "ticket": 7 }));
    agents.submit(run).await.unwrap();

    let broken =
        Runner::builder().agent("clerk", with_ticket(&store)).services(|_, builder| Ok(builder));
    let error = broken.build().unwrap().work().await.unwrap_err();
    assert!(matches!(&error, RunError::Start(StartError::Services(_))), "{error}");

    let ended = agents.resume("r1").await.unwrap();
    assert!(ended.ended().is_some());
    let history = serde_json::to_string(&agents.history("r1").await.unwrap()).unwrap();
    assert!(history.contains('7'), "{history}");
}
