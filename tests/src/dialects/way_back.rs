//! Calls come back from a strict form as the application takes them.

use serde_json::json;
use toolwright::dialect::{Dialect, call_tool_result};
use toolwright::provider::ToolCall;
use toolwright::{Call, Content, Executor, Output, Registry, ToolError, data, tool};

/// A place on a page.
#[data]
struct Place {
    /// The line.
    line: u32,
    /// The column, where it matters.
    column: Option<u32>,
}

/// Says where.
#[tool(effect = read)]
async fn say(
    /// Where.
    place: Place,
    /// A limit.
    limit: Option<u64>,
    /// How loudly.
    #[arg(default = 3)]
    volume: u8,
) -> String {
    format!("{}:{:?} {limit:?} {volume}", place.line, place.column)
}

fn call(arguments: &str) -> ToolCall {
    let message = json!([{"type": "function_call", "call_id": "call_1", "name": "say", "arguments": arguments}]);
    let registry = Registry::of([SAY]).unwrap();
    let listing = registry.listing(Dialect::OpenAiResponsesStrict).unwrap();
    listing.tool_calls(&message.to_string()).unwrap().remove(0)
}

#[tokio::test]
async fn a_null_that_stands_for_an_absent_key_is_taken_out() {
    let registry = Registry::of([SAY]).unwrap();
    let executor = Executor::builder(registry).unrestricted().build().unwrap();
    let call = call(r#"{"place":{"line":1,"column":null},"limit":null,"volume":null}"#);
    assert_eq!(call.arguments, r#"{"place":{"line":1}}"#);
    assert_eq!(executor.call(&Call::from(&call)).await.text(), "1:None None 3");
}

#[test]
fn everything_else_stays_as_the_model_wrote_it() {
    let text = r#"{"place":{"line" : 1.0,"column":2}, "limit":9007199254740993,"volume":3}"#;
    assert_eq!(call(text).arguments, text);
    let nulls = r#"{"place":null,"limit":18446744073709551615,"unknown":null}"#;
    assert_eq!(call(nulls).arguments, nulls);
    assert_eq!(call("{\"limit\":null").arguments, "{\"limit\":null");
}

#[tokio::test]
async fn answers_go_to_mcp_as_the_protocol_has_them() {
    /// Shows it.
    #[tool(effect = read)]
    async fn show(
        /// Whether to.
        really: bool,
    ) -> Result<Output, ToolError> {
        if !really {
            return Err(ToolError::new("unwilling", "not now"));
        }
        Ok(Output::text("here")
            .with(Content::Image { media_type: "image/png".into(), data: "aGk=".into() })
            .structured(json!({"shown": true})))
    }
    let executor = Executor::builder(Registry::of([SHOW]).unwrap()).unrestricted().build().unwrap();
    let shown = executor.call(&Call::new("show", r#"{"really":true}"#)).await;
    assert_eq!(
        call_tool_result(&shown),
        json!({
            "content": [
                {"type": "text", "text": "here"},
                {"type": "image", "mimeType": "image/png", "data": "aGk="},
            ],
            "structuredContent": {"shown": true},
        })
    );
    let failed = call_tool_result(&executor.call(&Call::new("show", r#"{"really":false}"#)).await);
    assert_eq!(failed["isError"], true);
}

/// What is meant.
#[data]
#[serde(untagged)]
enum Target {
    /// By its number.
    Id {
        /// The number.
        id: u64,
        /// A word about it.
        note: Option<String>,
    },
    /// By its name.
    Name {
        /// The name.
        name: String,
        /// A word about it.
        note: String,
    },
}

#[tokio::test]
async fn a_variant_without_a_tag_is_told_by_its_keys() {
    /// Goes there.
    #[tool(effect = read)]
    async fn go(
        /// Where.
        target: Target,
    ) -> String {
        match target {
            Target::Id { id, note } => format!("{id} {note:?}"),
            Target::Name { name, note } => format!("{name} {note}"),
        }
    }
    let registry = Registry::of([GO]).unwrap();
    let listing = registry.listing(Dialect::OpenAiResponsesStrict).unwrap();
    let arguments = r#"{"target":{"id":1,"note":null}}"#;
    let message = json!([{"type": "function_call", "call_id": "call_1", "name": "go", "arguments": arguments}]);
    let call = listing.tool_calls(&message.to_string()).unwrap().remove(0);
    assert_eq!(call.arguments, r#"{"target":{"id":1}}"#);
    let executor = Executor::builder(registry).unrestricted().build().unwrap();
    assert_eq!(executor.call(&Call::from(&call)).await.text(), "1 None");
}

#[tokio::test]
async fn a_key_that_repeats_is_left_for_the_reader_to_refuse() {
    let text = r#"{"place":{"line":1,"column":2,"column":null},"limit":null,"volume":null}"#;
    let call = call(text);
    assert_eq!(call.arguments, text);
    let executor = Executor::builder(Registry::of([SAY]).unwrap()).unrestricted().build().unwrap();
    let answer = executor.call(&Call::from(&call)).await;
    assert!(answer.is_error(), "{}", answer.text());
}
