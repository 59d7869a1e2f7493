//! Statements that somebody would like to pass for a decision.

use toolwright::approval::{ApprovalError, ApprovalService, SignedStatement, Statement, Subject};
use toolwright::journal::State;

use super::scene::{at, call_of, journal, key, pending, service, signed};

/// What an approval service says to a statement about the first of two calls, which must stay as they are.
async fn refused(forged: SignedStatement) -> ApprovalError {
    let store = journal([pending(1), pending(2)]).await;
    let error = service(&store).submit(forged, at(5)).await.expect_err("forged");
    assert_eq!(call_of(&store, pending(1).id).await, pending(1));
    assert_eq!(call_of(&store, pending(2).id).await, pending(2));
    error
}

#[tokio::test]
async fn a_statement_with_the_digest_of_another_call_is_refused() {
    let mut statement = Statement::approve(&pending(1), "ada", at(1));
    let digest = pending(2).digest;
    statement.about = Subject::Call { id: pending(1).id, generation: 1, digest, shown: None };
    let error = refused(signed(&statement)).await;
    assert!(matches!(error, ApprovalError::Digest { .. }), "{error}");
}

#[tokio::test]
async fn a_statement_about_a_generation_that_is_not_yet_is_refused() {
    let mut statement = Statement::approve(&pending(1), "ada", at(1));
    let digest = pending(1).digest;
    statement.about = Subject::Call { id: pending(1).id, generation: 2, digest, shown: None };
    let error = refused(signed(&statement)).await;
    assert!(matches!(error, ApprovalError::Generation { said: 2, found: 1, .. }), "{error}");
}

#[tokio::test]
async fn a_changed_text_with_the_old_signature_is_refused() {
    let reject = signed(&Statement::reject(&pending(1), None, "ada", at(1)));
    let text =
        reject.text.replace(r#"{"reject":{"reason":null}}"#, r#"{"approve":{"grant":null}}"#);
    assert_ne!(text, reject.text);
    let error = refused(SignedStatement { text, ..reject }).await;
    assert!(matches!(error, ApprovalError::Unverified(_)), "{error}");
}

#[tokio::test]
async fn a_signature_of_one_call_does_not_approve_another() {
    let one = signed(&Statement::approve(&pending(1), "ada", at(1)));
    let other = signed(&Statement::approve(&pending(2), "ada", at(1)));
    let error = refused(SignedStatement { text: other.text, ..one }).await;
    assert!(matches!(error, ApprovalError::Unverified(_)), "{error}");
}

#[tokio::test]
async fn a_key_that_is_not_trusted_approves_nothing() {
    let error = refused(signed(&Statement::approve(&pending(1), "eve", at(1)))).await;
    assert_eq!(error.to_string(), "the statement does not count");
    let cause = std::error::Error::source(&error).expect("why").to_string();
    assert!(cause.contains(&format!("{} is not trusted", key("eve").public())), "{cause}");
}

#[tokio::test]
async fn what_is_no_statement_is_refused_even_where_nobody_is_trusted() {
    let store = journal([pending(1)]).await;
    let good = signed(&Statement::approve(&pending(1), "ada", at(1)));
    for text in ["", "{}", "approved", &good.text.replace("approve", "allow")] {
        let forged = SignedStatement { text: text.to_owned(), ..good.clone() };
        let service = ApprovalService::new(std::sync::Arc::new(store.clone()));
        let error = service.submit(forged, at(5)).await.expect_err("no statement");
        assert!(matches!(error, ApprovalError::Unreadable(_)), "{error}");
    }
    assert_eq!(call_of(&store, pending(1).id).await.state, State::Pending);
}
