//! A panic is answered, and neither the caller nor the next call comes to harm.

use toolwright::{Call, Danger, ErrorClass, tool};

use crate::support::{PING, builder, call, executor, kind};

/// Has a defect before it waits for anything.
#[tool(effect = read)]
async fn panic_at_once() {
    panic!("a secret in a panic");
}

/// Has a defect after it waited.
#[tool(effect = read)]
async fn panic_later() {
    tokio::task::yield_now().await;
    panic!("a secret in a panic");
}

fn judge(path: &str) -> Danger {
    assert!(!path.is_empty(), "a secret in a panic");
    Danger::Safe
}

/// Is judged by a function with a defect.
#[tool(danger = judge(&path))]
async fn panic_in_judgement(
    /// Which.
    path: String,
) {
    let _ = path;
}

#[tokio::test]
async fn a_panic_is_an_error_whose_words_are_for_operators() {
    let executor = executor([PANIC_AT_ONCE, PANIC_LATER, PANIC_IN_JUDGEMENT, PING]);
    for call in [
        call("panic_at_once"),
        call("panic_later"),
        Call::new("panic_in_judgement", r#"{"path":""}"#),
    ] {
        let answer = executor.call(&call).await;
        let error = answer.error().unwrap();
        assert_eq!((error.kind(), error.classified()), ("panic", ErrorClass::Unknown));
        assert!(!answer.text().contains("secret"));
        assert!(error.source().unwrap().to_string().contains("a secret in a panic"));
    }
    assert_eq!(executor.call(&call("ping")).await.text(), "pong");
}

#[tokio::test]
async fn a_panic_gives_its_place_back() {
    let executor = builder([PANIC_AT_ONCE, PANIC_LATER, PING]).limit(1).build().unwrap();
    for name in ["panic_at_once", "panic_later"] {
        assert_eq!(kind(&executor.call(&call(name)).await), "panic");
        assert_eq!(kind(&executor.call(&call("ping")).await), "ok");
    }
}
