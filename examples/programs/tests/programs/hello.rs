//! An agent with a tool.

use serde_json::json;

use crate::provider::{Provider, message};
use crate::{printed, program, words};

const HELLO: &str = env!("CARGO_BIN_EXE_hello");

#[test]
fn it_looks_two_articles_up_and_prints_what_the_model_makes_of_it() {
    let called = |id: &str, article: &str| json!({ "type": "tool_use", "id": id, "name": "price_of", "input": { "article": article } });
    let provider = Provider::of([
        message("tool_use", &json!([called("t1", "tea"), called("t2", "honey")])),
        message("end_turn", &json!([{ "type": "text", "text": "They cost 11.50 together." }])),
    ]);
    let mut hello = program(HELLO);
    hello.env("ANTHROPIC_API_KEY", "secret").env("ANTHROPIC_BASE_URL", &provider.url);
    assert_eq!(printed(&hello.output().unwrap()), "They cost 11.50 together.\n");

    let requests = provider.requests();
    assert_eq!(requests[0]["tools"][0]["name"], "price_of");
    assert!(requests[0]["system"].to_string().contains("You run a small shop."), "{}", requests[0]);
    let results = requests[1]["messages"][2]["content"].to_string();
    assert!(results.contains("450") && results.contains("700"), "{results}");
}

#[test]
fn without_a_key_it_says_which_variable_holds_it() {
    let output = program(HELLO).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        words(&output.stderr),
        "Error: found no key for `anthropic:claude-sonnet-4-6`; set ANTHROPIC_API_KEY to the key of your account, or give \
         the agent a model with a key of its own\n"
    );
}

#[test]
fn a_provider_that_is_away_is_an_error_and_not_an_empty_line() {
    let mut hello = program(HELLO);
    // Nothing listens there.
    hello.env("ANTHROPIC_API_KEY", "secret").env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    let output = hello.output().unwrap();
    assert_eq!((output.status.code(), words(&output.stdout).as_str()), (Some(1), ""));
    assert!(
        words(&output.stderr)
            .starts_with("Error: the model is unavailable: anthropic at http://127.0.0.1:1/"),
        "{output:?}"
    );
}
