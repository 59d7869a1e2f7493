//! A conversation at the terminal, with its commands.

use std::sync::Arc;

use knowledge::{agent, talk};
use toolwright_agent::{ModelError, ScriptedModel};

use crate::support::Shelf;

/// What a person reads who types these lines.
async fn read(shelf: &Shelf, model: ScriptedModel, lines: &[&str]) -> String {
    let agent = agent(&shelf.executor, Arc::new(model)).unwrap();
    let mut lines = lines.iter().map(|line| format!("{line}\n"));
    let mut out = Vec::new();
    talk(&agent, &shelf.executor, || Ok(lines.next()), &mut out).await.unwrap();
    String::from_utf8(out).unwrap()
}

/// S0.78
#[tokio::test]
async fn a_command_calls_the_tool_that_adds_it_and_no_model() {
    let shelf = Shelf::new();
    let out = read(&shelf, ScriptedModel::new(), &["/capabilities", "/help"]).await;
    assert!(shelf.path("prompts/capabilities.md").exists(), "{out}");
    assert!(out.contains("\"created_file\":true"), "{out}");
    for command in ["/help  ", "/quit  ", "/capabilities  Write a summary"] {
        assert!(out.contains(command), "{command}: {out}");
    }
}

#[tokio::test]
async fn an_unknown_command_names_near_ones_and_reaches_no_model() {
    let shelf = Shelf::new();
    let out =
        read(&shelf, ScriptedModel::new(), &["/capabilities2", "/xyz", "", "/quit", "never read"])
            .await;
    assert!(
        out.contains("there is no command `/capabilities2`; did you mean `/capabilities`?"),
        "{out}"
    );
    assert!(out.contains("there is no command `/xyz`; `/help` lists the commands"), "{out}");
}

#[tokio::test]
async fn a_conversation_shows_calls_and_text_and_goes_on_after_a_failure() {
    let shelf = Shelf::new();
    let model = ScriptedModel::new()
        .calls([("membot_tree", "{}")])
        .says("There is nothing.")
        .fails(ModelError::new("unavailable", "the model is down"))
        .says("I am back.");
    let out = read(&shelf, model, &["What is there?", "And now?", "Hello?"]).await;
    assert!(out.contains("[membot_tree {}]") && out.contains("There is nothing."), "{out}");
    assert!(out.contains("error: ") && out.contains("I am back."), "{out}");
}
