//! Which models are asked, with what, and what is reported.

use std::sync::Arc;

use toolwright::provider::ToolCall;
use toolwright::{Executor, Output, Registry, tool};

use super::*;
use crate::agent::Agent;
use crate::events::RunEnd;
use crate::history::{Message, Verbatim};
use crate::model::{ContextSize, Delta};
use crate::run::Stopped;

/// Adds one.
#[tool(name = "math.add", effect = read)]
async fn add(
    /// To what.
    a: i64,
) -> i64 {
    a + 1
}

/// A model that fails or answers by turns, in a dialect of its own.
struct Turns {
    name: &'static str,
    dialect: Dialect,
    answers: Mutex<std::vec::IntoIter<Result<ModelAnswer, ModelError>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Model for Turns {
    fn name(&self) -> &str {
        self.name
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        assert_eq!(request.listing.dialect(), self.dialect, "the tools are in its form");
        self.asked.lock().unwrap().push(self.name.to_owned());
        if let Some(listener) = request.listener {
            listener.delta(Delta::Text(self.name));
        }
        let answer = self.answers.lock().unwrap().next().expect("it is asked too often");
        Box::pin(async move { answer })
    }
}

fn busy() -> ModelError {
    ModelError::new("overloaded", "busy").class(ErrorClass::NotStarted { retry_after: None })
}

fn call() -> ModelAnswer {
    let arguments = r#"{"a": 1}"#.to_owned();
    let call = ToolCall { id: Some("c1".into()), name: "math.add".into(), arguments };
    ModelAnswer::new("", vec![call])
}

type Asked = Arc<Mutex<Vec<String>>>;

fn pair(
    first: Vec<Result<ModelAnswer, ModelError>>,
    second: Vec<Result<ModelAnswer, ModelError>>,
) -> (FallbackBuilder, Asked) {
    let asked = Asked::default();
    let turns = |name, dialect, answers: Vec<_>| Turns {
        name,
        dialect,
        answers: Mutex::new(answers.into_iter()),
        asked: Arc::clone(&asked),
    };
    let first = turns("first", Dialect::Anthropic, first);
    let second = turns("second", Dialect::Gemini, second);
    (Fallback::builder(first).then(second), asked)
}

fn executor() -> Executor {
    Executor::builder(Registry::of([ADD]).unwrap()).unrestricted().build().unwrap()
}

/// The first model fails in the middle of a run: the second goes on with the same history, and is asked alone while the
/// first rests.
#[tokio::test(start_paused = true)]
async fn a_run_goes_on_with_the_second_model_and_comes_back_to_the_first() {
    let thought = r#"[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"tool_use"}]"#;
    let thought = call().verbatim(Verbatim::new("anthropic", thought));
    let first = vec![Ok(thought), Err(busy()), Ok(ModelAnswer::text("Back."))];
    let second = vec![Ok(call()), Ok(ModelAnswer::text("Done."))];
    let (builder, asked) = pair(first, second);
    let fell = Asked::default();
    let falling = Arc::clone(&fell);
    let model = builder.on_fallback(move |it| {
        let omitted: Vec<String> = it.omitted.iter().map(ToString::to_string).collect();
        let (kind, omitted) = (it.error.kind(), omitted.join("; "));
        falling.lock().unwrap().push(format!("{} {kind} {}: {omitted}", it.from, it.to));
    });
    let answered = Asked::default();
    let answering = Arc::clone(&answered);
    let agent = Agent::on(executor(), model.build()).listen(move |notice| {
        if let crate::events::NoticeKind::Answered { answer } = notice.kind {
            answering.lock().unwrap().push(answer.model.clone().unwrap_or_default());
        }
    });
    let mut run = agent.build().unwrap().new_run("r").start().unwrap();
    let ended = run.send("Add.").await.unwrap();
    assert!(matches!(ended, RunEnd::Text { text, .. } if text == "Done."));
    crate::history::check(run.history()).unwrap();
    let calls = run.history().iter().map(|message| message.calls().len()).sum::<usize>();
    assert_eq!(calls, 2, "the call of the first model is in the history");
    assert_eq!(*asked.lock().unwrap(), ["first", "first", "second", "second"]);
    assert_eq!(
        *fell.lock().unwrap(),
        ["first overloaded second: message 1 without thinking of anthropic"]
    );
    assert_eq!(*answered.lock().unwrap(), ["first", "second", "second"]);
    tokio::time::advance(Duration::from_secs(61)).await;
    let ended = run.send("Again.").await.unwrap();
    assert!(matches!(ended, RunEnd::Text { text, .. } if text == "Back."));
}

/// The second model takes no request, and the first rests: the run waits for the first.
#[tokio::test(start_paused = true)]
async fn a_run_waits_for_a_model_that_rests_where_the_others_refuse_the_request() {
    let wait = Duration::from_secs(90);
    let limited = || {
        let class = ErrorClass::NotStarted { retry_after: Some(wait) };
        ModelError::new("rate_limited", "ask again in 90 s").class(class)
    };
    let refused = || ModelError::new("invalid_request", "it takes no such tools");
    let first = vec![Err(limited()), Ok(ModelAnswer::text("Done."))];
    let (model, asked) = pair(first, vec![Err(refused()), Err(refused())]);
    let agent = Agent::on(executor(), model.build()).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    let away = run.send("Add.").await.unwrap_err();
    assert!(matches!(&away, Stopped::ModelUnreachable { kind, .. } if kind == "rate_limited"));
    tokio::time::advance(Duration::from_secs(30)).await;
    // The first still rests, and is not asked.
    let Stopped::ModelUnreachable { kind, message, retry_after } = run.resume().await.unwrap_err()
    else {
        panic!("it waits")
    };
    assert_eq!((kind.as_str(), retry_after), ("model_rests", Some(Duration::from_secs(60))));
    assert!(message.contains("first is left alone for 60 s"), "{message}");
    assert!(message.contains("it takes no such tools"), "{message}");
    assert_eq!(*asked.lock().unwrap(), ["first", "second", "second"]);
    tokio::time::advance(Duration::from_secs(61)).await;
    assert!(matches!(run.resume().await.unwrap(), RunEnd::Text { .. }));
}

/// A model whose key is wrong rests too, and no time makes it right.
#[tokio::test(start_paused = true)]
async fn no_run_waits_for_a_model_that_rests_because_its_account_is_wrong() {
    let wrong = ModelError::new("wrong_key", "check the key");
    let refused = || ModelError::new("invalid_request", "it takes no such tools");
    let (model, _) = pair(vec![Err(wrong)], vec![Err(refused()), Err(refused())]);
    let agent = Agent::on(executor(), model.build()).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    for _ in 0..2 {
        let RunEnd::ModelFailed { kind, .. } = run.send("Add.").await.unwrap() else {
            panic!("it ends")
        };
        assert_eq!(kind, "invalid_request");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_in_which_every_model_is_down_stops_with_their_names() {
    let (model, asked) = pair(vec![Err(busy())], vec![Err(busy())]);
    let agent = Agent::on(executor(), model.build()).build().unwrap();
    let stopped = agent.new_run("r").start().unwrap().send("Add.").await.unwrap_err();
    let Stopped::ModelUnreachable { kind, message, .. } = stopped else { panic!("{stopped:?}") };
    assert_eq!((kind.as_str(), asked.lock().unwrap().len()), ("overloaded", 2));
    assert_eq!(message, "no model answered (first, second asked): busy");
}

#[tokio::test(start_paused = true)]
async fn a_history_that_no_model_takes_ends_the_run_with_its_size() {
    let long = |allowed| {
        let size = ContextSize::new(Some(9_000), Some(allowed));
        Err(ModelError::new("context_too_long", "too long").too_long(size))
    };
    let (model, asked) = pair(vec![long(4_000)], vec![long(8_000)]);
    let agent = Agent::on(executor(), model.build()).build().unwrap();
    let ended = agent.new_run("r").start().unwrap().send("Add.").await.unwrap();
    let RunEnd::ModelFailed { kind, context_size, .. } = ended else { panic!("{ended:?}") };
    assert_eq!((kind.as_str(), asked.lock().unwrap().len()), ("context_too_long", 2));
    assert_eq!(context_size, Some(ContextSize::new(Some(9_000), Some(8_000))));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_wrong_is_made_once() {
    let (model, asked) = pair(vec![Err(ModelError::new("invalid_request", "no"))], vec![]);
    let agent = Agent::on(executor(), model.build()).build().unwrap();
    agent.new_run("r").start().unwrap().send("Add.").await.unwrap();
    assert_eq!(*asked.lock().unwrap(), ["first"]);
}

#[tokio::test(start_paused = true)]
async fn no_model_is_asked_after_the_budget() {
    let (model, asked) = pair(vec![Err(busy())], vec![]);
    let model = model.budget(Duration::ZERO).build();
    let agent = Agent::on(executor(), model).build().unwrap();
    let stopped = agent.new_run("r").start().unwrap().send("Add.").await.unwrap_err();
    assert_eq!(*asked.lock().unwrap(), ["first"]);
    assert!(stopped.to_string().contains("the time for all of them is over"), "{stopped}");
}

/// Waits for ever.
struct Hangs;

impl Model for Hangs {
    fn name(&self) -> &str {
        "hangs"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn check(&self, settings: &ModelSettings, _: Option<u32>) -> Result<(), ModelError> {
        match settings.one_call {
            true => Err(ModelError::new("invalid_settings", "has no `one_call`")),
            false => Ok(()),
        }
    }

    fn answer<'a>(&'a self, _: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(std::future::pending())
    }
}

/// Each model has its share of the time, and the last one all that is left.
#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_leaves_time_for_the_next() {
    let begun = Instant::now();
    let (third, _) = pair(vec![Ok(ModelAnswer::text("Done."))], vec![]);
    let fell = Asked::default();
    let falling = Arc::clone(&fell);
    let model = Fallback::builder(Hangs).then(Hangs).then(third.build());
    let model = model.budget(Duration::from_secs(90)).on_fallback(move |it| {
        falling.lock().unwrap().push(it.error.to_string());
    });
    let agent = Agent::on(executor(), model.build()).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    let ended = run.send("Add.").await.unwrap();
    assert!(matches!(ended, RunEnd::Text { text, .. } if text == "Done."));
    assert_eq!(begun.elapsed().as_secs(), 60);
    let fell = fell.lock().unwrap();
    let why = "hangs gave no whole answer within 30.0 s, its share of the time for all models";
    assert!(fell[0].starts_with(why), "{fell:?}");
    assert!(fell[1].contains("its share of the time for all models"), "{fell:?}");
    assert_eq!(run.state().spent().lost, 2, "they may have cost something");
}

/// Each of them failed in a request that took something, at both levels.
#[tokio::test(start_paused = true)]
async fn a_run_whose_time_is_over_has_spent_what_every_model_took_before() {
    let took = |input: u64| TotalUsage::of(Some(crate::limits::Usage::new(input, 0)), None);
    let (outer, _) = pair(vec![Err(busy().taking(took(1)))], vec![Err(busy().taking(took(20)))]);
    let (inner, _) =
        pair(vec![Err(busy().taking(took(300)))], vec![Err(busy().taking(took(4000)))]);
    let model = outer.then(inner.then(Hangs).build()).build();
    let limit = Duration::from_secs(60);
    let agent = Agent::on(executor(), model).max_duration(limit).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    let ended = run.send("Add.").await.unwrap();
    assert_eq!(ended, RunEnd::Limit(crate::limits::Limit::Time { milliseconds: 60_000 }));
    let failed =
        [1, 20, 300, 4000].map(took).into_iter().fold(TotalUsage::lost(), TotalUsage::plus);
    assert_eq!(run.state().spent(), failed);
}

#[test]
fn settings_that_one_of_the_models_does_not_have_are_refused_before_the_first_run() {
    let (first, _) = pair(vec![], vec![]);
    let builder = Agent::on(executor(), first.then(Hangs).build());
    let error = builder.settings(ModelSettings::new().one_call()).build().unwrap_err();
    let why = "the model cannot be asked with these settings: has no `one_call`";
    assert_eq!(error.to_string(), why);
}

/// The tools are listed for the second model from the catalog.
#[tokio::test]
async fn tools_in_another_form_need_the_catalog() {
    let (model, _) = pair(vec![Err(busy())], vec![]);
    let model = model.build();
    let listing = Registry::of([ADD]).unwrap().listing(Dialect::Anthropic).unwrap();
    let history = [
        Message::user("Add."),
        Message::tool_results([(call().calls.remove(0), Output::text("2").into())]),
    ];
    let error = model.answer(ModelRequest::new(&history, &listing)).await.unwrap_err();
    assert_eq!(error.kind(), "invalid_tools");
}

#[derive(Default)]
struct Heard(Mutex<String>);

impl DeltaListener for Heard {
    fn delta(&self, delta: Delta<'_>) {
        let mut heard = self.0.lock().unwrap();
        match delta {
            Delta::Text(text) => heard.push_str(text),
            other => heard.push_str(&format!(" {other:?} ")),
        }
    }
}

/// What the first model had said is no part of the answer.
#[tokio::test]
async fn a_listener_is_notified_that_the_answer_starts_again_with_the_next_model() {
    let (model, _) = pair(vec![Err(busy())], vec![Ok(ModelAnswer::text("Done."))]);
    let (model, catalog) = (model.build(), Registry::of([ADD]).unwrap().catalog());
    let listing = catalog.listing(Dialect::Anthropic).unwrap();
    let (history, heard) = ([Message::user("Add.")], Heard::default());
    let request = ModelRequest::new(&history, &listing).catalog(&catalog).listener(&heard);
    model.answer(request).await.unwrap();
    assert_eq!(*heard.0.lock().unwrap(), "first Restarted second");
}
