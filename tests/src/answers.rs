//! What a tool returns is what the model, programs and the host get, each their part.

use serde_json::{Value, json};
use toolwright::provider::{Provider, ToolCall};
use toolwright::{Answer, Call, Content, Output, ToolError, data, tool};

use crate::support::{call, executor, kind};

/// A found note.
#[data]
struct Note {
    /// Its title.
    title: String,
    /// Its number.
    number: u64,
}

/// Returns text.
#[tool(effect = read)]
async fn give_text() -> String {
    "say \"hi\"\nand go".to_owned()
}

/// Returns a value.
#[tool(effect = read)]
async fn give_value() -> Note {
    Note { title: "list".to_owned(), number: 18_446_744_073_709_551_615 }
}

/// Returns a list.
#[tool(effect = read)]
async fn give_list() -> Vec<u8> {
    vec![1, 2]
}

/// Returns nothing.
#[tool(effect = read)]
async fn give_nothing() {}

/// Returns an unit variant, which has the form of text.
#[tool(effect = read)]
async fn give_choice() -> Choice {
    Choice::Second
}

/// One of two.
#[data]
#[serde(rename_all = "snake_case")]
enum Choice {
    /// This.
    Second,
}

/// Returns blocks, a value and facts for the host.
#[tool(effect = read)]
async fn give_output() -> Result<Output, ToolError> {
    let picture = Content::Image { media_type: "image/png".into(), data: "iVBORw0KGgo=".into() };
    Ok(Output::text("two files")
        .with(picture)
        .structured(json!({"files": 2}))
        .metadata("trace", "host-only-7"))
}

/// Fails.
#[tool(effect = read)]
async fn give_error() -> Result<String, ToolError> {
    Err(ToolError::new("not_found", "no such note").hint("list the notes first"))
}

/// S3.17: a value is serialised to JSON, which is the result that the model reads.
#[tokio::test]
async fn a_value_is_serialised_and_text_is_sent_raw() {
    let executor = executor([GIVE_TEXT, GIVE_VALUE, GIVE_LIST, GIVE_CHOICE]);
    assert_eq!(executor.call(&call("give_text")).await.text(), "say \"hi\"\nand go");
    assert_eq!(
        executor.call(&call("give_value")).await.text(),
        r#"{"title":"list","number":18446744073709551615}"#
    );
    assert_eq!(executor.call(&call("give_list")).await.text(), "[1,2]");
    assert_eq!(executor.call(&call("give_choice")).await.text(), "second");
}

#[tokio::test]
async fn a_tool_that_returns_nothing_is_answered_with_null() {
    let answer = executor([GIVE_NOTHING]).call(&call("give_nothing")).await;
    assert!(!answer.is_error());
    assert_eq!(answer.text(), "null");
}

/// S3.54: a program reads the object that a tool returned without parsing text for people.
#[tokio::test]
async fn an_object_is_there_for_programs_and_text_is_not_taken_for_one() {
    let executor = executor([GIVE_TEXT, GIVE_VALUE]);
    let value = executor.call(&call("give_value")).await.structured();
    assert_eq!(value, Some(json!({"title": "list", "number": u64::MAX})));
    assert_eq!(executor.call(&call("give_text")).await.structured(), None);
}

/// Returns text that is JSON, as a file may be.
#[tool(effect = read)]
async fn give_json_as_text(
    /// In which of the forms that text has.
    form: u8,
) -> Output {
    let text = r#"{"title": "list", "number": 1}"#;
    match form {
        0 => Output::text(text),
        _ => Output::default().with(Content::text(text)),
    }
}

/// Returns text that is JSON.
#[tool(effect = read)]
async fn give_json_as_string() -> String {
    r#"{"title": "list", "number": 1}"#.to_owned()
}

/// Returns borrowed text that is JSON.
#[tool(effect = read)]
async fn give_json_as_str() -> &'static str {
    r#"{"title": "list", "number": 1}"#
}

#[tokio::test]
async fn text_that_looks_like_json_stays_text() {
    let executor = executor([GIVE_JSON_AS_TEXT, GIVE_JSON_AS_STRING, GIVE_JSON_AS_STR]);
    let text = r#"{"title": "list", "number": 1}"#;
    for call in [
        call("give_json_as_string"),
        call("give_json_as_str"),
        Call::new("give_json_as_text", r#"{"form":0}"#),
        Call::new("give_json_as_text", r#"{"form":1}"#),
    ] {
        let answer = executor.call(&call).await;
        assert_eq!(answer.text(), text);
        assert_eq!(answer.structured(), None, "{call:?}");
        assert_eq!(answer.content(), [Content::text(text)], "{call:?}");
        let call = ToolCall { id: None, name: "give".to_owned(), arguments: "{}".to_owned() };
        let sent = Provider::Gemini.tool_results(&[(call, answer)]).unwrap();
        assert_eq!(sent["parts"][0]["functionResponse"]["response"]["output"], text);
    }
}

/// S0.15: whatever becomes of a call, its answer says whether it is an error, and the text of an
/// error says it too.
#[tokio::test]
async fn every_answer_says_whether_it_is_an_error() {
    let executor = executor([GIVE_TEXT, GIVE_NOTHING, GIVE_OUTPUT, GIVE_ERROR]);
    for name in ["give_text", "give_nothing", "give_output"] {
        assert!(!executor.call(&call(name)).await.is_error(), "{name}");
    }
    for wrong in [call("give_error"), call("unknown"), Call::new("give_text", "no json")] {
        let answer = executor.call(&wrong).await;
        assert!(answer.is_error());
        let shown: Value = serde_json::from_str(&answer.text()).unwrap();
        assert_eq!(shown["is_error"], true);
    }
}

/// S2.27: an answer tells success, data and metadata apart, as the extended result of a function
/// tool does.
/// S4.41: output and metadata of a result; the metadata is for the host and reaches no model.
#[tokio::test]
async fn metadata_is_for_the_host_and_in_no_text_of_the_model() {
    let answer = executor([GIVE_OUTPUT]).call(&call("give_output")).await;
    assert!(!answer.is_error());
    assert_eq!(answer.structured(), Some(json!({"files": 2})));
    assert_eq!(answer.metadata().unwrap()["trace"], "host-only-7");
    assert!(!answer.text().contains("host-only-7"));
    assert!(!format!("{:?}", answer.content()).contains("host-only-7"));
}

#[tokio::test]
async fn an_output_keeps_its_blocks_and_names_in_text_what_is_none() {
    let answer = executor([GIVE_OUTPUT]).call(&call("give_output")).await;
    let content = answer.content();
    assert!(matches!(content.as_slice(), [Content::Text(_), Content::Image { .. }]));
    assert_eq!(
        answer.text(),
        "two files\n[image/png, 8 bytes, left out: text cannot take it in this answer]"
    );
}

#[tokio::test]
async fn an_error_tells_the_model_its_kind_its_words_and_what_to_do_next() {
    let answer = executor([GIVE_ERROR]).call(&call("give_error")).await;
    let shown: Value = serde_json::from_str(&answer.text()).unwrap();
    assert_eq!(
        shown,
        json!({
            "is_error": true,
            "error_type": "not_found",
            "message": "no such note",
            "next_action_hint": "list the notes first",
        })
    );
    assert_eq!(answer.structured(), None);
}

/// An output whose schema promises more than its type keeps.
#[data]
struct Promise {
    /// At least ten.
    #[schemars(range(min = 10))]
    number: u64,
}

/// Returns what was asked for, kept or not.
#[tool(effect = read)]
async fn promise(
    /// The number.
    number: u64,
) -> Promise {
    Promise { number }
}

/// S0.11: the output schema is what the result looks like, and a result that is not is refused, in every build: this schema
/// says more than its type.
/// S3.16: a tool must return data that matches its output schema.
#[tokio::test]
async fn a_result_that_breaks_its_own_schema_is_refused() {
    let executor = executor([PROMISE]);
    let catalog = executor.catalog();
    let schema = catalog.get("promise").unwrap().output_schema.as_ref().unwrap();
    assert_eq!(schema["properties"]["number"]["minimum"], 10);
    let kept = executor.call(&Call::new("promise", r#"{"number":10}"#)).await;
    assert_eq!(kept.text(), r#"{"number":10}"#);
    let broken = executor.call(&Call::new("promise", r#"{"number":9}"#)).await;
    assert_eq!(kind(&broken), "invalid_output");
    assert!(!broken.text().contains('9'));
    assert!(broken.error().unwrap().source().unwrap().to_string().contains("promise"));
}

/// Returns what was asked for, kept or not, when it has waited.
#[tool(effect = read)]
async fn promise_later(
    /// The number.
    number: u64,
) -> Promise {
    tokio::task::yield_now().await;
    Promise { number }
}

#[tokio::test]
async fn a_result_that_comes_late_is_held_to_its_schema_as_well() {
    let executor = executor([PROMISE_LATER]);
    for (number, end) in [("10", "ok"), ("9", "invalid_output")] {
        let call = Call::new("promise_later", format!(r#"{{"number":{number}}}"#));
        assert_eq!(kind(&executor.call(&call).await), end, "{number}");
    }
}

#[test]
fn an_answer_can_be_made_from_an_output_or_an_error_by_whoever_stands_in_for_a_tool() {
    assert_eq!(Answer::from(Output::text("kept")).into_text(), "kept");
    assert!(Answer::from(ToolError::invalid("no")).is_error());
}
