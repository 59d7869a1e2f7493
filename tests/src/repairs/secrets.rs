//! A secret in input that is not what the schema asks for is told to nobody.

use std::sync::{Arc, Mutex};

use toolwright::{Call, ToolEvent, data, tool};

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
            .listen(move |event: &ToolEvent<'_>| {
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

/// The number of a card, of which no schema can say everything.
#[data]
#[serde(try_from = "String")]
struct Card(String);

impl TryFrom<String> for Card {
    type Error = String;

    fn try_from(number: String) -> Result<Self, String> {
        match number.ends_with('5') {
            true => Ok(Self(number)),
            false => Err(format!("{number} is the number of no card")),
        }
    }
}

/// Pays with a card.
#[tool]
async fn pay_with_a_card(
    /// The card.
    #[arg(secret)]
    card: Card,
    /// How many.
    #[arg(default = 1)]
    times: u32,
) -> String {
    format!("{} × {times}", card.0.len())
}

/// Its type refuses the secret, in words that repeat it. Where something else had to be mended, it does so when the
/// mended text is read.
#[tokio::test]
async fn a_type_that_refuses_a_secret_is_not_quoted_before_or_after_a_repair() {
    for (sent, end) in [
        (r#"{"card":"4929123412341235"}"#, "ok"),
        (r#"{"card":"4929123412341235","times":"2"}"#, "ok"),
        (r#"{"card":"4929123412341234"}"#, "invalid_input"),
        (r#"{"card":"4929123412341234","times":"2"}"#, "invalid_input"),
        (r#"{"Card":"4929123412341234"}"#, "invalid_input"),
        (r#"{"card":4929123412341234}"#, "invalid_input"),
        ("```json\n{\"card\":\"4929123412341234\"}\n```", "invalid_input"),
    ] {
        let heard = Arc::new(Mutex::new(String::new()));
        let listener = Arc::clone(&heard);
        let executor = builder([PAY_WITH_A_CARD])
            .listen(move |event: &ToolEvent<'_>| {
                listener.lock().unwrap().push_str(&format!("{event:?}\n"));
            })
            .build()
            .unwrap();
        let answer = executor.call(&Call::new("pay_with_a_card", sent)).await;
        assert_eq!(kind(&answer), end, "{sent}: {}", answer.text());
        for told in [answer.text().into_owned(), heard.lock().unwrap().clone()] {
            assert!(!told.contains("492912341234123"), "{sent}: {told}");
        }
        let place = answer.error().is_none_or(|error| error.message().contains("/card: "));
        assert!(place, "the place is told: {}", answer.text());
    }
}
