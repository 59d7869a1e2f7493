//! Runs that end in a value of a type.

mod forked;
mod recorded;

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use toolwright::dialect::Dialect;
use toolwright::{ToolError, tool};
use toolwright_agent::{
    Agent, AgentError, Message, Model, ModelAnswer, ModelError, ModelRequest, OutputFormat, RunEnd,
    ScriptedModel, StopReason, ToolChoice,
};

/// What articles cost.
#[toolwright::data]
#[derive(Debug, PartialEq)]
struct Quote {
    /// The articles, each with its price in cents.
    lines: Vec<(String, u32)>,
    /// The sum, in cents.
    total: u32,
    /// What else there is to say.
    note: Option<String>,
}

const TEA: &str = r#"{"lines":[["tea",450]],"total":450}"#;

fn tea() -> Quote {
    Quote { lines: vec![("tea".to_owned(), 450)], total: 450, note: None }
}

/// Look up what an article costs, in cents.
#[tool(effect = read, unlinked)]
async fn price_of(
    /// The article.
    article: String,
) -> Option<u32> {
    (article == "tea").then_some(450)
}

fn agent(model: ScriptedModel) -> (Agent, Arc<ScriptedModel>) {
    let model = Arc::new(model);
    (Agent::builder(Arc::clone(&model)).tools([PRICE_OF]).build().unwrap(), model)
}

/// The text of the last message that the model was asked with.
fn last_words(model: &ScriptedModel) -> String {
    match model.requests().last().unwrap().history.last().unwrap() {
        Message::User { text, .. } => text.clone(),
        Message::ToolResults(answered) => answered[0].1.error().unwrap().message().to_owned(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_model_looks_up_what_it_needs_and_gives_the_value_by_a_call() {
    let script = ScriptedModel::new().calls([("price_of", r#"{"article":"tea"}"#)]);
    let (agent, model) = agent(script.calls([("final_answer", TEA)]));
    let result = agent.run("What does tea cost?").typed::<Quote>().await.unwrap();
    assert_eq!((result.output(), result.result().turns()), (&tea(), 2));
    let tools = &model.requests()[0].tools;
    assert!(tools.contains("What articles cost.") && tools.contains("price_of"), "{tools}");
    // Its call is answered, as each is.
    toolwright_agent::check(result.result().history()).unwrap();
}

#[tokio::test]
async fn what_is_wrong_goes_back_by_its_place_and_each_answer_is_a_turn() {
    let wrong = r#"{"lines":[["tea","cheap"]],"total":450}"#;
    let script = ScriptedModel::new().calls([("final_answer", wrong)]);
    let (agent, model) = agent(script.calls([("final_answer", TEA)]));
    let result = agent.run("What does tea cost?").typed::<Quote>().await.unwrap();
    assert_eq!((result.output(), result.result().turns()), (&tea(), 2));
    let words = last_words(&model);
    assert!(words.contains("/lines/0/1: found \"cheap\", expected"), "{words}");
}

#[tokio::test]
async fn a_text_that_is_the_value_ends_the_run_and_any_other_goes_back() {
    let script = ScriptedModel::new().says("It costs 4.50.").says(TEA);
    let (agent, model) = agent(script);
    let result = agent.run("What does tea cost?").typed::<Quote>().await.unwrap();
    assert_eq!(result.into_output(), tea());
    let words = last_words(&model);
    assert!(words.starts_with("[Your answer is not the value that was asked for:"), "{words}");
}

#[tokio::test]
async fn a_value_that_is_never_right_ends_the_run_with_its_last_problems() {
    let wrong = |total: &str| format!(r#"{{"lines":[],"total":{total}}}"#);
    let script = ScriptedModel::new().says(wrong("-1")).says(wrong("-2")).says(wrong("-3"));
    let (agent, _) = agent(script);
    let error = agent.run("What does tea cost?").typed::<Quote>().await.unwrap_err();
    let problems = error.output_problems().join("\n");
    assert!(problems.contains("/total: found -3"), "{problems}");
    assert!(!problems.contains("-2"), "{problems}");
    let result = error.result().unwrap();
    assert_eq!((result.text(), result.turns()), ("", 3));
    assert!(matches!(result.end(), RunEnd::InvalidOutput { times: 3, .. }), "{error}");
    assert!(result.output::<Quote>().is_err(), "the last invalid value is never returned");
}

#[tokio::test]
async fn an_agent_that_corrects_nothing_asks_once() {
    let agent = Agent::builder(ScriptedModel::new().says("No.")).max_corrections(0).build();
    let error = agent.unwrap().run("What?").typed::<Quote>().await.unwrap_err();
    assert!(matches!(error.result().unwrap().end(), RunEnd::InvalidOutput { times: 1, .. }));
}

#[tokio::test]
async fn a_text_that_was_cut_short_is_no_value_even_where_it_could_be_completed() {
    let cut = ModelAnswer::text(&TEA[..TEA.len() - 1]).stopped(StopReason::CutShort);
    let (agent, model) = agent(ScriptedModel::new().answers(cut).says(TEA));
    agent.run("What does tea cost?").typed::<Quote>().await.unwrap();
    assert!(last_words(&model).contains("cut short"));
    let (agent, _) = self::agent(ScriptedModel::new().says(&TEA[..TEA.len() - 1]).says(TEA));
    let result = agent.run("What does tea cost?").typed::<Quote>().await.unwrap();
    assert_eq!(result.result().turns(), 2);
}

#[tokio::test]
async fn a_value_is_repaired_as_the_input_of_a_tool_is() {
    let (agent, _) = agent(
        ScriptedModel::new().says(format!("```json\n{}\n```", TEA.replace("}", ",\"note\":null}"))),
    );
    let result = agent.run("What does tea cost?").typed::<Quote>().await.unwrap();
    assert_eq!(result.into_output(), tea());
}

#[tokio::test]
async fn a_value_beside_calls_is_not_read_and_the_calls_before_it_run() {
    let both = [("price_of", r#"{"article":"tea"}"#), ("final_answer", TEA)];
    let (agent, model) = agent(ScriptedModel::new().calls(both).calls([("final_answer", TEA)]));
    let result = agent.run("What does tea cost?").typed::<Quote>().await.unwrap();
    assert_eq!(result.result().turns(), 2);
    let requests = model.requests();
    let Message::ToolResults(answered) = requests[1].history.last().unwrap() else { panic!() };
    assert_eq!(
        (&*answered[0].1.text(), answered[1].1.error().unwrap().kind()),
        ("450", "not_alone")
    );
}

#[tokio::test]
async fn a_rule_of_the_application_refuses_values_that_the_schema_takes() {
    let script = ScriptedModel::new().says(r#"{"lines":[["tea",450]],"total":7}"#).says(TEA);
    let (agent, model) = agent(script);
    let quote = agent.run("What?").typed().validate(|quote: &Quote| {
        let sum: u32 = quote.lines.iter().map(|(_, cents)| cents).sum();
        let wrong = || ToolError::invalid("/total: it is not the sum").hint("add the lines up");
        if sum == quote.total { Ok(()) } else { Err(wrong()) }
    });
    assert_eq!(quote.await.unwrap().into_output(), tea());
    let words = last_words(&model);
    assert!(words.contains("/total: it is not the sum\nadd the lines up"), "{words}");
}

/// An answer that is refused by a rule which panics is recorded, and no request is made in vain for it.
#[tokio::test]
async fn a_rule_that_panics_ends_the_run_with_a_problem_and_never_with_the_value() {
    let agent = Agent::builder(ScriptedModel::new().says(TEA)).max_corrections(0).build().unwrap();
    let quote = agent.run("What?").typed().validate(|_: &Quote| panic!("on purpose"));
    let error = quote.await.unwrap_err();
    assert_eq!(error.output_problems(), ["the rule for the value panicked"]);
    assert!(matches!(error.result().unwrap().end(), RunEnd::InvalidOutput { times: 1, .. }));
}

#[tokio::test]
async fn an_extraction_shows_the_model_no_tools_but_the_value() {
    let (agent, model) = agent(ScriptedModel::new().calls([("final_answer", TEA)]));
    assert_eq!(agent.extract::<Quote>("Tea: 4.50").await.unwrap().into_output(), tea());
    assert!(!model.requests()[0].tools.contains("price_of"));
}

#[toolwright::data]
struct Open {
    /// Whatever there is.
    values: std::collections::BTreeMap<String, Vec<u8>>,
}

/// A type whose schema no provider takes: a property without a name.
#[toolwright::data]
struct Nameless {
    #[serde(rename = "")]
    it: u8,
}

/// Ends the run.
#[tool(effect = read, terminal, unlinked)]
async fn done() {}

#[test]
fn what_cannot_be_asked_for_is_found_when_the_agent_is_built() {
    let build = |agent: toolwright_agent::AgentBuilder| match agent.build() {
        Err(AgentError::Output(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let model = || ScriptedModel::new().dialect(Dialect::Anthropic);
    let problem = build(Agent::builder(model()).output::<Nameless>());
    assert!(problem.contains("`Nameless`"), "{problem}");
    let problem = build(Agent::builder(model()).tools([DONE]).output::<Quote>());
    assert!(problem.contains("`done`, which is `terminal`"), "{problem}");
    assert!(Agent::builder(model()).output::<Open>().build().is_ok());
}

/// A model that writes the format into its requests, and notes them.
struct InFormat {
    asked: Arc<Mutex<Vec<(String, bool, ToolChoice)>>>,
}

impl Model for InFormat {
    fn name(&self) -> &str {
        "in-format"
    }

    fn dialect(&self) -> Dialect {
        Dialect::OpenAiResponses
    }

    fn takes_format(&self, _: &OutputFormat) -> bool {
        true
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let (tools, choice) = (request.listing.tools().get(), &request.settings.tool_choice);
        let asked = (tools.to_owned(), request.output.is_some(), choice.clone());
        self.asked.lock().unwrap().push(asked);
        Box::pin(async { Ok(ModelAnswer::text(TEA)) })
    }
}

#[tokio::test]
async fn a_model_that_answers_in_a_format_is_shown_no_tool_for_the_value() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let agent = Agent::builder(InFormat { asked: Arc::clone(&asked) }).build().unwrap();
    assert_eq!(agent.run("What?").typed::<Quote>().await.unwrap().into_output(), tea());
    assert_eq!(*asked.lock().unwrap(), [("[]".to_owned(), true, ToolChoice::Auto)]);
}
