//! Typed runs that are recorded: asked for again by their ids, by the type that they were begun with or by another.

use std::future::IntoFuture as _;
use std::sync::Arc;

use toolwright::ToolError;
use toolwright::journal::MemoryStore;
use toolwright_agent::{Agent, AgentBuilder, RunError, ScriptedModel};

use super::{PRICE_OF, Quote, TEA, tea};

/// A type that reads every quote, and is none.
#[toolwright::data]
#[derive(Debug)]
struct Invoice {
    /// The articles, each with its price in cents.
    lines: Vec<(String, u32)>,
    /// The sum, in cents.
    total: u32,
    /// What else there is to say.
    note: Option<String>,
}

mod changed {
    /// What articles cost.
    #[toolwright::data]
    #[derive(Debug)]
    pub struct Quote {
        /// The articles, each with its price in cents.
        pub lines: Vec<(String, u32)>,
        /// The sum, in whole euros.
        pub total: u32,
        /// What else there is to say.
        pub note: Option<String>,
        /// Until when it counts.
        pub until: Option<String>,
    }
}

fn recorded(model: ScriptedModel) -> AgentBuilder {
    let agent = Agent::builder(model).tools([PRICE_OF]).unrestricted();
    agent.journal(MemoryStore::new())
}

#[tokio::test]
async fn a_recorded_run_gives_its_value_again_and_asks_for_the_type() {
    let model = ScriptedModel::new().says("Well.").calls([("final_answer", TEA)]);
    let agent = Agent::builder(model).tools([PRICE_OF]).unrestricted();
    let agent = agent.journal(MemoryStore::new()).build().unwrap();
    let ask = || agent.run("What does tea cost?").id("quote-1");
    assert_eq!(ask().typed::<Quote>().await.unwrap().into_output(), tea());
    // The script has no step left: nothing is asked again.
    assert_eq!(ask().typed::<Quote>().await.unwrap().into_output(), tea());
    assert_eq!(ask().await.unwrap().text(), TEA);
    let other = ask().typed::<Vec<String>>().await.unwrap_err();
    assert!(matches!(other, RunError::OtherOutput { .. }), "{other}");
}

#[tokio::test]
async fn a_run_that_was_left_in_the_middle_goes_on_to_its_value() {
    let model = ScriptedModel::new().says("Well.").hangs();
    let model = Arc::new(model.says("Still not.").calls([("final_answer", TEA)]));
    let agent = Agent::builder(Arc::clone(&model)).tools([PRICE_OF]).unrestricted();
    let agent = agent.journal(MemoryStore::new()).build().unwrap();
    let ask = || agent.run("What does tea cost?").id("quote-1");
    {
        let mut run = ask().typed::<Quote>().into_future();
        // As far as the request that has no answer.
        while model.requests().len() < 2 {
            assert!(futures::poll!(&mut run).is_pending());
            tokio::task::yield_now().await;
        }
    }
    let untyped = ask().await.unwrap_err();
    assert!(untyped.to_string().contains(".typed::<Quote>()"), "{untyped}");
    let result = ask().typed::<Quote>().await.unwrap();
    assert_eq!((result.output(), result.result().turns()), (&tea(), 3));
}

#[tokio::test]
async fn a_recorded_value_is_given_as_its_own_type_alone_and_the_error_names_both() {
    let agent = recorded(ScriptedModel::new().says(TEA)).build().unwrap();
    let ask = || agent.run("What does tea cost?").id("quote-1");
    ask().typed::<Quote>().await.unwrap();
    let other = ask().typed::<Invoice>().await.unwrap_err();
    assert!(matches!(other, RunError::OtherOutput { .. }), "{other}");
    let words = other.to_string();
    assert!(words.contains("`quote-1` ends in a value of `Quote`"), "{words}");
    assert!(words.contains("`Invoice` is asked for"), "{words}");

    let changed = ask().typed::<changed::Quote>().await.unwrap_err().to_string();
    assert!(changed.contains("the fields of `Quote` have changed"), "{changed}");
    let text = ask().await.unwrap();
    assert!(text.output::<Quote>().is_ok());
    for error in [text.output::<Invoice>().map(|_| ()), text.output::<changed::Quote>().map(|_| ())]
    {
        assert!(matches!(error.unwrap_err(), RunError::OtherOutput { .. }));
    }
}

#[tokio::test]
async fn a_run_that_was_begun_without_a_type_is_not_gone_on_with_for_one() {
    let agent = recorded(ScriptedModel::new().hangs().says("450.")).build().unwrap();
    let ask = || agent.run("What does tea cost?").id("quote-1");
    {
        let mut run = ask().into_future();
        for _ in 0..100 {
            assert!(futures::poll!(&mut run).is_pending());
            tokio::task::yield_now().await;
        }
    }
    let words = ask().typed::<Quote>().await.unwrap_err().to_string();
    assert!(words.contains("begun to end in a text, and a value of `Quote`"), "{words}");
    assert_eq!(ask().await.unwrap().text(), "450.");
}

#[tokio::test]
async fn the_rule_for_a_value_is_asked_again_about_the_recorded_one() {
    let agent = recorded(ScriptedModel::new().says(TEA)).build().unwrap();
    let ask = || agent.run("What does tea cost?").id("quote-1").typed::<Quote>();
    ask().validate(|_| Ok(())).await.unwrap();
    let at_most = |most: u32| {
        move |quote: &Quote| match quote.total <= most {
            true => Ok(()),
            false => Err(ToolError::invalid(format!("/total: it is more than {most}"))),
        }
    };
    assert_eq!(ask().validate(at_most(450)).await.unwrap().into_output(), tea());
    let refused = ask().validate(at_most(400)).await.unwrap_err();
    assert!(matches!(refused, RunError::OtherOutput { .. }), "{refused}");
    let words = refused.to_string();
    assert!(
        words.contains("`quote-1`") && words.contains("/total: it is more than 400"),
        "{words}"
    );
    let panics = ask().validate(|_| panic!("on purpose")).await.unwrap_err().to_string();
    assert!(panics.contains("the rule for the value panicked"), "{panics}");
}

#[tokio::test]
async fn a_run_in_the_middle_is_not_gone_on_with_for_a_type_whose_fields_have_changed() {
    let model = ScriptedModel::new().says("Well.").hangs();
    let model = Arc::new(model.calls([("final_answer", TEA)]));
    let agent = Agent::builder(Arc::clone(&model)).tools([PRICE_OF]).unrestricted();
    let agent = agent.journal(MemoryStore::new()).build().unwrap();
    let ask = || agent.run("What does tea cost?").id("quote-1");
    {
        let mut run = ask().typed::<Quote>().into_future();
        while model.requests().len() < 2 {
            assert!(futures::poll!(&mut run).is_pending());
            tokio::task::yield_now().await;
        }
    }
    let changed = ask().typed::<changed::Quote>().await.unwrap_err().to_string();
    assert!(changed.contains("the fields of `Quote` have changed"), "{changed}");
    assert_eq!(ask().typed::<Quote>().await.unwrap().into_output(), tea());
}
