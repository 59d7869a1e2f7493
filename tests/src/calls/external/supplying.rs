//! A result is supplied: once, in time, for its call alone, and as the tool promises it.

use std::time::Duration;

use toolwright::approval::InvalidToken;
use toolwright::journal::{State, SupplyError};
use toolwright::{Call, ToolError};

use super::super::support::{answered, key, office, path};
use super::{a_pick, builder, executor, handed_over, journal};
use crate::support::kind;

#[tokio::test]
async fn a_supplied_result_is_the_answer_and_the_call_never_ran_here() {
    let office = office();
    let executor = executor(&office);
    let handed = handed_over(&executor, &a_pick()).await;
    assert_eq!(
        (handed.tool.as_str(), &*handed.arguments),
        ("external_pick", r#"{"prompt":"the door?"}"#)
    );
    executor.supply(handed.call, &handed.token.to_string(), Ok(r#""Blue""#)).await.unwrap();
    let answer = answered(executor.worker().unwrap().resume(handed.call).await);
    assert_eq!(answer.text(), r#""Blue""#);
    assert_eq!(
        path(&office.history(handed.call).await),
        "judging → ready → running → handed_over → succeeded"
    );
}

#[tokio::test]
async fn an_error_that_is_supplied_is_the_answer() {
    let office = office();
    let executor = executor(&office);
    let handed = handed_over(&executor, &a_pick()).await;
    let closed = ToolError::new("closed", "the visitor closed the page");
    executor.supply(handed.call, &handed.token.to_string(), Err(closed)).await.unwrap();
    let answer = answered(executor.worker().unwrap().resume(handed.call).await);
    assert_eq!(kind(&answer), "closed");
    assert_eq!(office.state(handed.call).await, State::Failed);
}

#[tokio::test]
async fn a_result_that_the_schema_refuses_is_named_and_the_call_waits_on() {
    let office = office();
    let executor = executor(&office);
    let handed = handed_over(&executor, &Call::new("external_count", "{}")).await;
    let token = handed.token.to_string();
    for wrong in [
        r#"{"count":"seven"}"#,
        r#"{"count":7,"more":1}"#,
        r#"{"count":7,"count":8}"#,
        r#"{"count":7"#,
        r#"{"count":7} {}"#,
        "",
    ] {
        let error = executor.supply(handed.call, &token, Ok(wrong)).await.unwrap_err();
        assert!(
            matches!(&error, SupplyError::Output { tool, .. } if tool == "external_count"),
            "{wrong}: {error}"
        );
        assert_eq!(office.state(handed.call).await, State::HandedOver);
    }
    executor.supply(handed.call, &token, Ok(r#"{"count":7}"#)).await.unwrap();
}

#[tokio::test]
async fn a_result_that_is_too_large_is_refused_before_it_is_read() {
    let office = office();
    let executor = executor(&office);
    let handed = handed_over(&executor, &a_pick()).await;
    let large = "[".repeat(100 * 1024 * 1024);
    let error =
        executor.supply(handed.call, &handed.token.to_string(), Ok(&large)).await.unwrap_err();
    assert!(matches!(error, SupplyError::TooLarge { found: 104_857_600, .. }), "{error}");
    let error = ToolError::new("closed", large);
    let error =
        executor.supply(handed.call, &handed.token.to_string(), Err(error)).await.unwrap_err();
    assert!(matches!(error, SupplyError::TooLarge { found: 104_857_600.., .. }), "{error}");
    assert_eq!(office.state(handed.call).await, State::HandedOver);
}

#[tokio::test]
async fn a_second_result_is_refused_by_name_and_changes_nothing() {
    let office = office();
    let executor = executor(&office);
    let handed = handed_over(&executor, &a_pick()).await;
    let token = handed.token.to_string();
    executor.supply(handed.call, &token, Ok(r#""Red""#)).await.unwrap();
    let error = executor.supply(handed.call, &token, Ok(r#""Blue""#)).await.unwrap_err();
    assert!(matches!(error, SupplyError::Ended { state: State::Succeeded, .. }), "{error}");
    assert!(error.to_string().contains("its result was supplied before"), "{error}");
    let record = office.record(handed.call).await;
    assert_eq!(record.answer.unwrap().text, r#""Red""#);
    assert!(record.result.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_results_at_once_one_counts_and_the_other_is_refused() {
    for _ in 0..20 {
        let office = office();
        let (one, other) = (executor(&office), executor(&office));
        let handed = handed_over(&one, &a_pick()).await;
        let (call, token) = (handed.call, handed.token.to_string());
        let supplied = [(one, r#""Red""#), (other, r#""Blue""#)].map(|(executor, colour)| {
            let token = token.clone();
            tokio::spawn(async move { (colour, executor.supply(call, &token, Ok(colour)).await) })
        });
        let mut counted = Vec::new();
        for supplied in supplied {
            match supplied.await.unwrap() {
                (colour, Ok(())) => counted.push(colour),
                (_, Err(SupplyError::Ended { state: State::Succeeded, .. })) => {}
                (_, Err(error)) => panic!("{error}"),
            }
        }
        let [counted] = counted[..] else { panic!("{counted:?}") };
        assert_eq!(office.record(call).await.answer.unwrap().text, counted);
    }
}

#[tokio::test]
async fn a_late_result_is_refused_and_the_call_expires() {
    let office = office();
    let executor = executor(&office);
    let handed = handed_over(&executor, &a_pick()).await;
    office.clock.pass(Duration::from_secs(60));
    let token = handed.token.to_string();
    let error = executor.supply(handed.call, &token, Ok(r#""Red""#)).await.unwrap_err();
    assert!(matches!(error, SupplyError::Ended { state: State::Expired, .. }), "{error}");
    let answer = answered(executor.worker().unwrap().resume(handed.call).await);
    assert_eq!(kind(&answer), "expired");
}

#[tokio::test]
async fn a_token_of_another_call_is_refused_and_the_error_names_both() {
    let office = office();
    let executor = executor(&office);
    let (one, other) =
        (handed_over(&executor, &a_pick()).await, handed_over(&executor, &a_pick()).await);
    let error =
        executor.supply(one.call, &other.token.to_string(), Ok(r#""Red""#)).await.unwrap_err();
    let why = InvalidToken::OtherCall { of: other.call, call: one.call };
    assert_eq!(error, SupplyError::Token { call: one.call, why });
    let error = executor.supply(one.call, "no token", Ok(r#""Red""#)).await.unwrap_err();
    assert!(matches!(error, SupplyError::Token { why: InvalidToken::Unreadable, .. }), "{error}");
    assert_eq!(office.state(one.call).await, State::HandedOver);
}

#[tokio::test]
async fn a_token_counts_where_its_key_is_and_nowhere_else() {
    let office = office();
    let handed = handed_over(&executor(&office), &a_pick()).await;
    let token = handed.token.to_string();
    let other = builder(&office).journal(office.parking().hand_over_key(key("executor", 8)));
    let other = other.build().unwrap();
    let error = other.supply(handed.call, &token, Ok(r#""Red""#)).await.unwrap_err();
    assert!(
        matches!(error, SupplyError::Token { why: InvalidToken::OtherKey { .. }, .. }),
        "{error}"
    );
    let restarted = builder(&office).journal(journal(&office)).build().unwrap();
    restarted.supply(handed.call, &token, Ok(r#""Red""#)).await.unwrap();
}

#[tokio::test]
async fn a_deadline_that_is_moved_in_the_journal_takes_the_token_with_it() {
    use toolwright::journal::{CallWrite, Store as _, Transaction};

    let office = office();
    let executor = executor(&office);
    let handed = handed_over(&executor, &a_pick()).await;
    let record = office.record(handed.call).await.with(|it| {
        it.version += 1;
        it.handed_over_until = Some(jiff::Timestamp::MAX);
    });
    let write = CallWrite { expects: Some(record.version - 1), record, entries: Vec::new() };
    let unit = Transaction { calls: vec![write], ..Transaction::default() };
    office.store.commit(unit, office.clock.now()).await.unwrap();
    let token = handed.token.to_string();
    let error = executor.supply(handed.call, &token, Ok(r#""Red""#)).await.unwrap_err();
    assert!(
        matches!(error, SupplyError::Token { why: InvalidToken::Altered { .. }, .. }),
        "{error}"
    );
}
