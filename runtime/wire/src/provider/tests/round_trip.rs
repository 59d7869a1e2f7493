//! Whatever ids, names and arguments a provider sends, they come out as they went in, and the answers name
//! the same ids in the same order.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{AnsweredCall, MediaSupport, Provider, ToolCall};
use toolwright_core::output::Content;

fn written(provider: Provider, calls: &[ToolCall]) -> String {
    // Anthropic's and Gemini's arguments are spliced in as text, as `Value` would normalise them.
    let parts = calls.iter().map(|call| {
        let quoted = |text: &str| Value::from(text).to_string();
        let id = quoted(call.id.as_deref().unwrap_or_default());
        let name = quoted(&call.name);
        let (raw, arguments) = (&call.arguments, quoted(&call.arguments));
        match provider {
            Provider::Anthropic => {
                format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input": {raw}}}"#)
            }
            Provider::OpenAiChat => format!(
                r#"{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{arguments}}}}}"#
            ),
            Provider::OpenAiResponses => format!(
                r#"{{"type":"function_call","call_id":{id},"name":{name},"arguments":{arguments}}}"#
            ),
            Provider::Gemini => {
                format!(r#"{{"functionCall":{{"args":{raw} ,"id":{id},"name":{name}}}}}"#)
            }
        }
    });
    let parts = parts.collect::<Vec<_>>().join(",");
    match provider {
        Provider::Anthropic => {
            format!(r#"{{"type":"message","role":"assistant","content":[{parts}]}}"#)
        }
        Provider::OpenAiChat => {
            format!(r#"{{"choices":[{{"message":{{"tool_calls":[{parts}]}}}}]}}"#)
        }
        Provider::OpenAiResponses => format!(r#"{{"object":"response","output":[{parts}]}}"#),
        Provider::Gemini => format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}]}}}}]}}"#),
    }
}

/// The id, the name where the message has one, and the text of every answer.
fn read_back(provider: Provider, message: &Value) -> Vec<Value> {
    let (answers, pointers) = match provider {
        Provider::Anthropic => (&message["content"], ["/tool_use_id", "/content"]),
        Provider::OpenAiChat => (message, ["/tool_call_id", "/content"]),
        Provider::OpenAiResponses => (message, ["/call_id", "/output"]),
        Provider::Gemini => {
            (&message["parts"], ["/functionResponse/id", "/functionResponse/response/output"])
        }
    };
    let answers = answers.as_array().unwrap().iter();
    answers.map(|answer| json!(pointers.map(|pointer| answer.pointer(pointer)))).collect()
}

/// Objects as text, with the liberties that JSON leaves: spaces, long numbers, repeated keys, escapes.
fn arguments() -> impl Strategy<Value = String> {
    let number = "-?[1-9][0-9]{0,40}(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?";
    let string = any::<String>().prop_map(|text| Value::from(text).to_string());
    let escape = Just(r#""\u00e4\ud83e\udd80\/""#.to_owned());
    let leaf = prop_oneof![number, string, escape, Just("null".to_owned())];
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        prop::collection::vec(inner, 0..4).prop_map(|items| format!("[ {} ]", items.join(" ,\n")))
    });
    prop::collection::vec(("[a-c]", "[ \n\t]{0,2}", value), 0..4).prop_map(|members| {
        let members =
            members.iter().map(|(key, space, value)| format!("\"{key}\"{space}:{space}{value}"));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    })
}

fn calls() -> impl Strategy<Value = Vec<ToolCall>> {
    let call = (".+", any::<String>(), arguments());
    prop::collection::vec(call, 1..5).prop_map(|calls| {
        let calls = calls.into_iter().map(|(id, name, arguments)| ToolCall {
            id: Some(id),
            name,
            arguments,
        });
        calls.collect()
    })
}

proptest! {
    #[test]
    fn ids_names_and_arguments_survive_the_way_in_and_ids_the_way_back(calls in calls()) {
        for provider in Provider::ALL {
            let message = written(provider, &calls);
            prop_assert_eq!(Provider::detect(&message).unwrap(), provider);
            let read = provider.tool_calls(&message).unwrap();
            prop_assert_eq!(&read, &calls);

            let contents: Vec<_> = (0..calls.len())
                .map(|index| [Content::text(format!("answer {index}"))])
                .collect();
            let answered: Vec<_> = read
                .iter()
                .zip(&contents)
                .map(|(call, content)| AnsweredCall {
                    id: call.id.as_deref(),
                    name: call.name.as_str().into(),
                    is_error: false,
                    content,
                })
                .collect();
            let back = read_back(provider, &provider.results(&answered, MediaSupport::Full).unwrap());
            let expected: Vec<_> = calls
                .iter()
                .enumerate()
                .map(|(index, call)| json!([call.id, format!("answer {index}")]))
                .collect();
            prop_assert_eq!(back, expected);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>(), keys in prop::collection::vec(
        prop::sample::select(vec!["type", "role", "content", "parts", "choices", "output", "functionCall",
            "tool_calls", "message", "candidates", "function", "tool_use", "function_call", "message"]), 0..6)) {
        let nested = keys.iter().fold(Value::from(text.as_str()), |inner, key| json!([{*key: inner, "type": key}]));
        for message in [text.clone(), nested.to_string(), nested[0].to_string()] {
            let _ = Provider::detect(&message);
            for provider in Provider::ALL {
                let _ = provider.tool_calls(&message);
            }
        }
    }
}
