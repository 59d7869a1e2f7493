//! An error is an error however its type is spelt, and its cause is for operators alone.

use std::io;

use serde_json::Value;
use toolwright::{ErrorClass, OrFail, ToolError, ToolEventKind, tool};

use crate::support::{Log, builder, call, executor, kind};

type Outcome<T, E = ToolError> = Result<T, E>;
type Plain = Outcome<String>;

/// Fails by an alias of an alias.
#[tool(effect = read)]
async fn fail_by_alias() -> Plain {
    Err(ToolError::new("chosen", "the words were chosen"))
}

/// Fails by the alias of the standard library.
#[tool(effect = read)]
async fn fail_by_io() -> io::Result<String> {
    Err(io::Error::new(io::ErrorKind::NotFound, "no entry for /srv/secret/ledger.db"))
}

/// Fails by an error of its own, which could be serialised as well.
#[tool(effect = read)]
async fn fail_by_own() -> Outcome<u8, Own> {
    Err(Own::Locked)
}

/// An error that has a JSON form.
#[toolwright::data]
enum Own {
    /// Somebody else holds it.
    Locked,
}

impl From<Own> for ToolError {
    fn from(_: Own) -> Self {
        ToolError::new("locked", "somebody else holds it")
            .class(ErrorClass::NotStarted { retry_after: None })
    }
}

/// Fails where it parses.
#[tool(effect = read)]
async fn fail_by_question_mark() -> Result<u16, ToolError> {
    Ok("hunter2".parse::<u16>()?)
}

/// Fails with chosen words.
#[tool(effect = read)]
async fn fail_with_words() -> Result<u16, ToolError> {
    "hunter2".parse::<u16>().or_fail("invalid_port", "a port is a number")
}

/// Fails by a boxed error.
#[tool(effect = read)]
async fn fail_by_box() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Err("connect to db.internal:5432 as app: refused".into())
}

#[tokio::test]
async fn an_err_is_never_a_success_however_its_result_is_spelt() {
    let executor = executor([FAIL_BY_ALIAS, FAIL_BY_IO, FAIL_BY_OWN, FAIL_BY_BOX]);
    for (name, expected) in [
        ("fail_by_alias", "chosen"),
        ("fail_by_io", "not_found"),
        ("fail_by_own", "locked"),
        ("fail_by_box", "internal_error"),
    ] {
        let answer = executor.call(&call(name)).await;
        assert_eq!(kind(&answer), expected, "{name}");
    }
}

/// S3.55: a tool lets errors go with `?`; they become an error answer whose kind and words fit.
/// S2.53: there is one error type, and what is thrown nowhere is in the answer.
#[tokio::test]
async fn an_error_let_go_becomes_an_error_answer() {
    let executor = executor([FAIL_BY_QUESTION_MARK, FAIL_WITH_WORDS]);
    let answer = executor.call(&call("fail_by_question_mark")).await;
    let error: &ToolError = answer.error().unwrap();
    assert_eq!((error.kind(), error.classified()), ("internal_error", ErrorClass::Final));
    let answer = executor.call(&call("fail_with_words")).await;
    assert_eq!(answer.error().unwrap().message(), "a port is a number");
}

#[tokio::test]
async fn the_words_of_a_foreign_error_reach_operators_and_no_model() {
    let log = Log::default();
    let heard = log.clone();
    let executor = builder([FAIL_BY_IO, FAIL_BY_BOX])
        .listen(move |event| {
            if let ToolEventKind::Failed { error, .. } = event.kind {
                heard.add(error.source().unwrap().to_string());
            }
        })
        .build()
        .unwrap();
    for (name, secret) in [("fail_by_io", "/srv/secret"), ("fail_by_box", "db.internal")] {
        let answer = executor.call(&call(name)).await;
        assert!(!answer.text().contains(secret), "{name}");
        assert!(!format!("{:?}", answer.content()).contains(secret), "{name}");
        assert!(!answer.error().unwrap().to_string().contains(secret), "{name}");
        assert!(answer.error().unwrap().source().unwrap().to_string().contains(secret), "{name}");
        assert!(log.lines().last().unwrap().contains(secret), "{name}");
    }
}

#[tokio::test]
async fn details_of_an_error_reach_the_model_as_they_are() {
    let error =
        ToolError::invalid("two lines overlap").details(serde_json::json!({"lines": [1, 2]}));
    let shown: Value = serde_json::from_str(&error.to_json()).unwrap();
    assert_eq!(shown["details"]["lines"][1], 2);
    assert_eq!(error.classified(), ErrorClass::Invalid);
}
