//! The names of tools as providers allow them, there and back.

use serde_json::json;
use toolwright::dialect::{DescribedTool, Dialect, Rule};
use toolwright::{Call, DynamicTool, Executor, Registry, tool};

/// Creates an alarm.
#[tool(name = "alarm.create", effect = idempotent)]
async fn create_alarm() -> &'static str {
    "created"
}

/// Creates another alarm.
#[tool(name = "alarm_create", effect = idempotent)]
async fn create_other() {}

#[tokio::test]
async fn a_call_by_the_shown_name_reaches_the_tool_and_its_answer_goes_back_by_it() {
    let registry = Registry::of([CREATE_ALARM]).unwrap();
    let executor = Executor::builder(registry.clone()).unrestricted().build().unwrap();
    let listing = registry.listing(Dialect::Anthropic).unwrap();
    assert_eq!(listing.shown_name("alarm.create"), "alarm_create");
    let message = r#"[{"type":"tool_use","id":"toolu_1","name":"alarm_create","input":{}}]"#;
    let mut answered = Vec::new();
    for call in listing.tool_calls(message).unwrap() {
        let answer = executor.call(&Call::from(&call)).await;
        assert_eq!(answer.text(), "created");
        answered.push((call, answer));
    }
    assert_eq!(listing.tool_results(&answered).unwrap()["content"][0]["tool_use_id"], "toolu_1");
}

#[tokio::test]
async fn an_answer_names_its_tool_as_the_model_knows_it() {
    let schema = json!({"type": "object"});
    let tool = DynamicTool::new("alarm/create", "Creates.", schema, |_, _| async { Ok("created") });
    let registry = Registry::of([tool]).unwrap();
    let executor = Executor::builder(registry.clone()).unrestricted().build().unwrap();
    let listing = registry.listing(Dialect::Gemini).unwrap();
    let message = r#"[{"functionCall":{"name":"alarm_create"}}]"#;
    let call = listing.tool_calls(message).unwrap().remove(0);
    assert_eq!(call.name, "alarm/create");
    let answer = executor.call(&Call::from(&call)).await;
    let results = listing.tool_results(&[(call, answer)]).unwrap();
    let response = &results["parts"][0]["functionResponse"];
    let expected = json!({"name": "alarm_create", "response": {"output": "created"}});
    assert_eq!(*response, expected);
}

#[test]
fn a_provider_that_takes_dots_is_shown_them() {
    for (dialect, name) in [
        (Dialect::Gemini, "alarm.create"),
        (Dialect::Mcp, "alarm.create"),
        (Dialect::OpenAiResponses, "alarm_create"),
    ] {
        let listing = Registry::of([CREATE_ALARM]).unwrap().listing(dialect).unwrap();
        assert_eq!(listing.shown_name("alarm.create"), name);
    }
}

#[test]
fn two_tools_that_models_could_not_tell_apart_are_refused() {
    let registry = Registry::of([CREATE_ALARM, CREATE_OTHER]).unwrap();
    assert!(registry.listing(Dialect::Mcp).is_ok());
    let error = registry.shown_to([Dialect::OpenAiChat, Dialect::Mcp]).unwrap_err();
    insta::assert_snapshot!(error, @r#"
    not every tool can be shown to the provider
    - openai-chat: tool `alarm_create` at /name: the model would see `alarm_create`, as it does for the tool `alarm.create`; rename one of them by `#[tool(name = "…")]`
    "#);
}

#[test]
fn a_tool_that_is_not_shown_is_not_shadowed_by_one_that_is() {
    /// Stops an alarm.
    #[tool(name = "alarm.stop", effect = idempotent)]
    async fn stop_alarm() {}
    /// Stops it in another way.
    #[tool(name = "alarm_stop", effect = idempotent, hidden)]
    async fn stop_unseen() {}

    let registry = Registry::of([STOP_ALARM, STOP_UNSEEN]).unwrap();
    assert!(registry.listing(Dialect::Mcp).is_ok());
    let error = registry.listing(Dialect::OpenAiChat).unwrap_err();
    assert_eq!(error.findings.last().map(|it| it.rule), Some(Rule::NameCollision));
}

#[test]
fn a_name_begins_as_gemini_wants_it() {
    /// Does magic.
    #[tool(name = "21st_magic", effect = read)]
    async fn magic() {}

    let registry = Registry::of([MAGIC]).unwrap();
    for dialect in [Dialect::Gemini, Dialect::GeminiOpenApi] {
        let listing = registry.listing(dialect).unwrap();
        assert_eq!(listing.shown_name("21st_magic"), "_21st_magic");
        assert!(listing.notes().iter().any(|it| it.rule == Rule::NameMapped));
        let message =
            r#"{"parts":[{"functionCall":{"name":"_21st_magic","args":{}}}],"role":"model"}"#;
        assert_eq!(listing.tool_calls(message).unwrap()[0].name, "21st_magic");
    }
    let listing = registry.listing(Dialect::OpenAiChat).unwrap();
    assert_eq!(listing.shown_name("21st_magic"), "21st_magic");
}

#[test]
fn names_of_every_length_are_judged() {
    let schema = json!({"type": "object", "properties": {}});
    for (dialect, longest) in
        [(Dialect::Anthropic, 128), (Dialect::OpenAiChat, 64), (Dialect::Gemini, 128)]
    {
        let judge = |name: &str| {
            dialect
                .render(&DescribedTool::new(name, "", &schema))
                .map(|it| it.name)
                .map_err(|it| it[0].rule)
        };
        assert_eq!(judge(""), Err(Rule::NameLength));
        assert!(judge(&"n".repeat(longest)).is_ok());
        assert_eq!(judge(&"n".repeat(longest + 1)), Err(Rule::NameLength));
        assert_eq!(judge("größe in m"), Ok("gr__e_in_m".to_owned()));
    }
}
