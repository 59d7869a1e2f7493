//! What is written: names for what differs between runs, and nothing that is secret.

use serde_json::json;
use toolwright::dialect::Dialect;
use toolwright::{Registry, tool};

use super::*;
use crate::recording::Recording;

/// Signs in.
#[tool(name = "account.sign_in", effect = read)]
async fn sign_in(
    /// Who.
    user: String,
    /// The password.
    #[arg(secret)]
    password: String,
) -> String {
    format!("{user} {password}")
}

/// What is recorded of these exchanges.
fn recorded(dialect: Dialect, exchanges: &[(String, String)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let catalog = Registry::of([SIGN_IN]).unwrap().catalog();
    let listing = catalog.listing(dialect).unwrap();
    let provider = dialect.provider().unwrap();
    let placeholders = Placeholders::standard().value("folder", r"C:\work");
    let create = || Recorder::create(&path, provider, placeholders.clone(), &catalog, &listing);
    let recorder = create().unwrap();
    for (request, response) in exchanges {
        let request = RecordedRequest::new("POST", "/v1/messages", request).unwrap();
        recorder.write(&Exchange { request, response: RecordedResponse::new(200, response) });
    }
    recorder.finish().unwrap();
    assert_eq!(create().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.parse::<Recording>().unwrap().to_string(), text);
    text
}

#[test]
fn what_differs_between_runs_has_its_name_and_all_else_stays_as_it_was() {
    let request = r#"{"tools":[{"description":"waits 1.5s"}],"model":"m","messages":[{"role":"user","content":"took 0.05s in C:\\work","n":1.50}]}"#;
    let response = r#"{"b":"in C:\\work, 0.05s","a":9007199254740993,"c":"caf\u00e9 \/"}"#;
    let text = recorded(Dialect::Anthropic, &[(request.to_owned(), response.to_owned())]);
    let expected = r#""body":{"tools":[{"description":"waits 1.5s"}],"model":"m","messages":[{"role":"user","content":"took {{duration}} in {{folder}}","n":1.50}]}},"response":{"status":200,"body":{"b":"in {{folder}}, 0.05s","a":9007199254740993,"c":"caf\u00e9 \/"}}"#;
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_secret_argument_stands_in_no_recording_of_any_provider() {
    let arguments = json!({"user": "ada", "password": "hunter2"});
    let text = arguments.to_string();
    let call = |key: &str, arguments: serde_json::Value| {
        // Gemini takes names with dots.
        let name = if key == "args" { "account.sign_in" } else { "account_sign_in" };
        json!({"name": name, "id": "c1", key: arguments})
    };
    for (dialect, call) in [
        (Dialect::Anthropic, call("input", arguments.clone())),
        (Dialect::OpenAiChat, json!({"function": call("arguments", text.clone().into())})),
        (Dialect::OpenAiResponses, call("arguments", text.into())),
        (Dialect::Gemini, json!({"functionCall": call("args", arguments)})),
    ] {
        let response = json!({"content": [call]}).to_string();
        let request = json!({"messages": [call, {"content": "it was hunter2"}]}).to_string();
        let first = (json!({"messages": []}).to_string(), response);
        let text = recorded(dialect, &[first, (request, "not JSON: hunter2".to_owned())]);
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("ada") && text.contains("it was {{secret}}"), "{text}");
    }
}

/// A short one is not looked for in texts, where it would be everywhere.
#[test]
fn a_short_secret_is_left_out_as_an_argument() {
    let call = json!({"name": "account_sign_in", "input": {"user": "a7", "password": "7"}});
    let text = recorded(Dialect::Anthropic, &[("{}".to_owned(), call.to_string())]);
    assert!(text.contains(r#"{"password":"{{secret}}","user":"a7"}"#), "{text}");
}

#[test]
fn arguments_that_cannot_be_read_are_left_out_whole() {
    let call =
        json!({"function": {"name": "account_sign_in", "arguments": "{\"password\":\"hunter2"}});
    let response = json!({"choices": [call]}).to_string();
    let text = recorded(Dialect::OpenAiChat, &[("{}".to_owned(), response)]);
    assert!(!text.contains("hunter2") && text.contains(r#""arguments":"{{secret}}""#), "{text}");
}

/// The executor repairs such keys, and so the tool gets the secret.
#[test]
fn a_secret_under_another_key_and_inside_of_a_value_is_left_out() {
    for arguments in [
        json!({"user": "ada", "Password": "hunter2"}),
        json!({"arguments": {"user": "lovelace", "password": "hunter2"}}),
        json!({"user": "ada", "password": {"old": ["hunter2"]}}),
    ] {
        let call = json!({"name": "account_sign_in", "input": arguments});
        let request = json!({"messages": [{"content": "it was hunter2, said ada"}]}).to_string();
        let exchanges = [("{}".to_owned(), call.to_string()), (request, "{}".to_owned())];
        let text = recorded(Dialect::Anthropic, &exchanges);
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("it was {{secret}}, said ada"), "{text}");
    }
}
