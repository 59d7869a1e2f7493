//! A secret in input that is not what the schema asks for is told to nobody.

use std::sync::{Arc, Mutex};

use toolwright::{Call, Event, tool};

use crate::spans::{Spans, recorded};
use crate::support::{builder, kind};

/// Signs in with a number.
#[tool(repair = lenient)]
async fn sign_in_by_number(
    /// Who.
    user: String,
    /// The number.
    #[arg(secret, alias = "pin")]
    number: u64,
    /// How often to try.
    #[arg(default = 1)]
    times: u32,
) -> String {
    format!("{user} {times} {}", number % 10)
}

const SECRET: &str = "4929123412341234";

/// Whatever is wrong around the secret, and how the call ends.
const SENT: [(&str, &str); 13] = [
    (r#"{"user":"ada","number":"4929123412341234"}"#, "ok"),
    (r#"{"user":"ada","pin":"4929123412341234"}"#, "ok"),
    (r#"{"user":"ada","Number":"4929123412341234","times":"2"}"#, "ok"),
    (r#"{"user":"ada","numbre":"4929123412341234"}"#, "ok"),
    (r#"{'user':'ada','number':4929123412341234}"#, "ok"),
    (r#"{"arguments":"{\"user\":\"ada\",\"number\":4929123412341234}"}"#, "ok"),
    ("```json\n{\"user\":\"ada\",\"number\":4929123412341234}\n```", "ok"),
    (r#"{"user":"ada","number":"x4929123412341234"}"#, "invalid_input"),
    (r#"{"user":"ada","number":["4929123412341234",1]}"#, "invalid_input"),
    (r#"{"user":"ada","times":"x","number":"4929123412341234"}"#, "invalid_input"),
    (r#"{"user":"ada","number":4929123412341234,"number":4929123412341234}"#, "invalid_input"),
    (r#"{"user":"ada","number":4929123412341234"#, "invalid_input"),
    ("the number is 4929123412341234", "invalid_input"),
];

#[tokio::test]
async fn a_secret_is_in_no_refusal_no_change_no_event_and_no_span() {
    for (sent, end) in SENT {
        let heard = Arc::new(Mutex::new(String::new()));
        let listener = Arc::clone(&heard);
        let executor = builder([SIGN_IN_BY_NUMBER])
            .record_content()
            .listen(move |event: &Event<'_>| {
                listener.lock().unwrap().push_str(&format!("{event:?}\n"));
            })
            .build()
            .unwrap();
        let spans = Spans::default();
        let answer = recorded(&spans, executor.call(&Call::new("sign_in_by_number", sent))).await;
        assert_eq!(kind(&answer), end, "{sent}: {}", answer.text());
        let repairs = serde_json::to_string(&answer.repairs()).unwrap();
        let told = [
            answer.text().into_owned(),
            format!("{answer:?}"),
            repairs,
            heard.lock().unwrap().clone(),
            spans.text(),
        ];
        for told in told {
            assert!(!told.contains(SECRET), "{sent}: {told}");
        }
        assert!(heard.lock().unwrap().contains("Started"));
    }
}

#[tokio::test]
async fn what_was_changed_beside_a_secret_is_told() {
    let executor = builder([SIGN_IN_BY_NUMBER]).build().unwrap();
    let sent = r#"{"user":"ada","number":"4929123412341234","times":"2"}"#;
    let answer = executor.call(&Call::new("sign_in_by_number", sent)).await;
    assert_eq!(answer.text(), "ada 2 4");
    let changes = answer.repairs().unwrap().changes();
    let of = |pointer: &str| changes.iter().find(|it| it.pointer == pointer).unwrap();
    assert_eq!((of("/times").from.as_str(), of("/times").to.as_str()), ("\"2\"", "2"));
    assert_eq!((of("/number").from.as_str(), of("/number").to.as_str()), ("", ""));
}
