//! What two requests of a run have in common, which providers cache: each begins with all of the one before it.

use toolwright::dialect::Listing;
use toolwright::provider::{Provider, ToolCall};
use toolwright::{Answer, Output, tool};

use super::*;
use crate::history::Verbatim;
use crate::http::api::Api;
use crate::model::{ModelSettings, PromptCache};

/// Adds one.
#[tool(name = "math.add", effect = read)]
async fn add(
    /// To what.
    a: i64,
) -> i64 {
    a + 1
}

/// Takes one.
#[tool(name = "math.take", effect = read)]
async fn take(
    /// From what.
    a: i64,
) -> i64 {
    a - 1
}

const APIS: [Api; 4] = [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses, Api::Gemini];

/// Own answers, one of another provider, one whose arguments are no JSON, one without ids, and a message between.
fn history() -> Vec<Message> {
    let call = |id: Option<&str>, arguments: &str| ToolCall {
        id: id.map(Into::into),
        name: "math.add".into(),
        arguments: arguments.into(),
    };
    let answered = |call: &ToolCall| (call.clone(), Answer::from(Output::text("2")));
    let own = [
        (
            Provider::Anthropic,
            "c1",
            r#"[{"type":"text","text":"Hm."}, {"type":"tool_use","id":"c1","name":"math_add","input":{"a": 1}}]"#,
        ),
        (
            Provider::OpenAiResponses,
            "o1",
            r#"[{"type":"function_call","call_id":"o1","name":"math_add","arguments":"{\"a\": 1}"}]"#,
        ),
        (
            Provider::Gemini,
            "g1",
            r#"[{"functionCall":{"id":"g1","name":"math_add","args":{"a": 1}},"thoughtSignature":"s"}]"#,
        ),
    ];
    let mut history = vec![Message::user("Add.")];
    for (provider, id, text) in own {
        let verbatim = Some(Verbatim::new(provider.name(), text));
        let made = call(Some(id), r#"{"a": 1}"#);
        let answers = Message::tool_results([answered(&made)]);
        history.push(Message::Assistant { text: "Hm.".into(), calls: [made].into(), verbatim });
        history.push(answers);
    }
    for made in [call(Some("c2"), "no JSON"), call(None, r#"{"a":2}"#)] {
        history.push(Message::assistant("I add.", [made.clone()]));
        history.push(Message::tool_results([answered(&made)]));
        history.push(Message::user("[Left for this task: 3 turns.]"));
    }
    history
}

fn written(api: Api, history: &[Message], listing: &Listing, settings: &ModelSettings) -> String {
    let request = ModelRequest::new(history, listing).instructions("Be brief.").settings(settings);
    api.body(&api.asked("some-model", Some(100)), &request).unwrap()
}

fn shared<'a>(one: &'a str, other: &str) -> &'a str {
    let end = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    &one[..end]
}

#[test]
fn each_request_of_a_run_begins_with_all_of_the_one_before_it() {
    let history = history();
    let cached = ModelSettings::new().cache(PromptCache::new().key("adding").lasts_long());
    for api in APIS {
        let listing = Registry::of([ADD, TAKE]).unwrap().listing(api.provider().into()).unwrap();
        for settings in [&ModelSettings::new(), &cached] {
            let mut before: Option<String> = None;
            for (end, message) in history.iter().enumerate() {
                // Where the model is asked: after a message of the user, or answers.
                if matches!(message, Message::Assistant { .. }) {
                    continue;
                }
                let body = written(api, &history[..=end], &listing, settings);
                if let Some(before) = before {
                    let open = before.strip_suffix("]}").unwrap();
                    assert!(body.starts_with(open), "{api:?}:\n{before}\n{body}");
                }
                before = Some(body);
            }
        }
    }
}

#[test]
fn other_tools_break_the_prefix_there_and_nowhere_earlier() {
    for api in APIS {
        let listing = |tools| {
            let registry = Registry::of(tools).unwrap();
            registry.listing(api.provider().into()).unwrap()
        };
        let (one, other) = (listing(vec![ADD]), listing(vec![ADD, TAKE]));
        let settings = ModelSettings::new();
        let body = written(api, &history(), &one, &settings);
        let changed = written(api, &history(), &other, &settings);
        let tools = body.find("\"tools\":").unwrap();
        let shared = shared(&body, &changed);
        assert!(shared.contains("Adds one.") && shared.len() > tools, "{api:?}: {shared}");
        assert!(shared.len() < body.find("Add.\"").unwrap(), "{api:?}: the history comes after");
    }
}

#[test]
fn a_cache_is_asked_for_in_the_words_of_each_provider() {
    let listing = |api: Api| Registry::empty().listing(api.provider().into()).unwrap();
    let history = [Message::user("Add.")];
    let plain = ModelSettings::new().cache(PromptCache::new());
    let keyed = ModelSettings::new().cache(PromptCache::new().key("adding").lasts_long());
    for (api, settings, expected) in [
        (
            Api::Anthropic,
            &plain,
            r#""cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]"#,
        ),
        (Api::Anthropic, &keyed, r#""cache_control":{"type":"ephemeral","ttl":"1h"},"system":[{"#),
        (Api::OpenAiChat, &keyed, r#""prompt_cache_key":"adding","prompt_cache_retention":"24h""#),
        (
            Api::OpenAiResponses,
            &keyed,
            r#""prompt_cache_key":"adding","prompt_cache_retention":"24h""#,
        ),
    ] {
        let body = written(api, &history, &listing(api), settings);
        assert!(body.contains(expected), "{api:?}: {body}");
        let uncached = written(api, &history, &listing(api), &ModelSettings::new());
        assert!(!uncached.contains("cache"), "{uncached}");
    }
    let gemini = |settings| written(Api::Gemini, &history, &listing(Api::Gemini), settings);
    assert_eq!(gemini(&keyed), gemini(&ModelSettings::new()), "it caches unasked");
}
