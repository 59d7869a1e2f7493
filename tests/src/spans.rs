//! Each call is a tracing span with the fields of the OpenTelemetry conventions for generative AI.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use toolwright::{Call, Executor, ToolError, tool};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::{PING, builder, executor, subscribed};

type Fields = BTreeMap<&'static str, String>;

/// Keeps the fields of every span called `execute_tool`, and asks for no other.
#[derive(Clone, Default)]
pub struct Spans(Arc<Mutex<Vec<Fields>>>);

impl Spans {
    /// Everything that was recorded.
    pub fn text(&self) -> String {
        format!("{:?}", self.0.lock().unwrap())
    }
}

struct Put<'a>(&'a mut Fields);

impl Visit for Put<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.name() == "execute_tool"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::new();
        span.record(&mut Put(&mut fields));
        let mut spans = self.0.lock().unwrap();
        spans.push(fields);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let index = span.into_u64() as usize - 1;
        values.record(&mut Put(&mut self.0.lock().unwrap()[index]));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Runs something whose spans are kept.
pub async fn recorded<T>(spans: &Spans, future: impl Future<Output = T>) -> T {
    let guard = subscribed(spans.clone());
    let ended = future.await;
    drop(guard);
    ended
}

/// The fields of the span of one call.
async fn fields(executor: &Executor, call: Call<'_>) -> Fields {
    let spans = Spans::default();
    recorded(&spans, executor.call(&call)).await;
    let mut found = spans.0.lock().unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// Looks something up.
#[tool(effect = read)]
async fn look_up(
    /// What.
    word: String,
) -> Result<String, ToolError> {
    if word == "missing" {
        return Err(ToolError::new("not_found", "it is in no book"));
    }
    Ok(format!("{word}, looked up"))
}

/// Signs in.
#[tool]
async fn sign_in(
    /// Who.
    user: String,
    /// The password.
    #[arg(secret)]
    password: String,
) -> String {
    format!("{user} with {password}")
}

#[tokio::test]
async fn a_span_names_operation_tool_call_description_and_type() {
    let executor = executor([LOOK_UP]);
    let call = Call::new("look_up", r#"{"word":"rust"}"#).id("call_7");
    let fields = fields(&executor, call).await;
    let expected = [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.call.id", "call_7"),
        ("gen_ai.tool.description", "Looks something up."),
        ("gen_ai.tool.name", "look_up"),
        ("gen_ai.tool.type", "function"),
        ("otel.name", "execute_tool look_up"),
    ];
    assert_eq!(fields, expected.map(|(name, value)| (name, value.to_owned())).into());
}

#[tokio::test]
async fn a_failure_is_an_error_type_in_the_span() {
    let executor = executor([LOOK_UP]);
    for (arguments, kind) in [(r#"{"word":"missing"}"#, "not_found"), ("{}", "invalid_input")] {
        let fields = fields(&executor, Call::new("look_up", arguments)).await;
        assert_eq!((&*fields["error.type"], &*fields["otel.status_code"]), (kind, "ERROR"));
    }
    let unknown = fields(&executor, Call::new("look_down", "{}")).await;
    assert_eq!(unknown["error.type"], "unknown_tool");
}

/// S2.26: the parameters of a call are told with it, where somebody asked for them.
#[tokio::test]
async fn arguments_and_results_are_recorded_where_asked_for_alone() {
    let arguments = r#"{"word":"rust"}"#;
    let silent = fields(&executor([LOOK_UP]), Call::new("look_up", arguments)).await;
    assert!(!silent.values().any(|value| value.contains("rust")));
    let recording = builder([LOOK_UP]).record_content().build().unwrap();
    let spoken = fields(&recording, Call::new("look_up", arguments)).await;
    assert_eq!(spoken["gen_ai.tool.call.arguments"], arguments);
    assert_eq!(spoken["gen_ai.tool.call.result"], "rust, looked up");
}

#[tokio::test]
async fn a_secret_is_recorded_nowhere() {
    let recording = builder([SIGN_IN]).record_content().build().unwrap();
    for arguments in
        [r#"{"user":"ada","password":"hunter2"}"#, r#"{"user":"ada","password":["hunter2"]}"#]
    {
        let fields = fields(&recording, Call::new("sign_in", arguments)).await;
        assert!(!fields.values().any(|value| value.contains("hunter2")), "{fields:?}");
    }
}

#[tokio::test]
async fn a_call_without_a_subscriber_is_answered_all_the_same() {
    assert_eq!(executor([PING]).call(&crate::support::call("ping")).await.text(), "pong");
}
