//! Words of those who have no say.

use toolwright::Call;
use toolwright::approval::Statement;
use toolwright::journal::{CallRecord, State};

use super::super::support::{Office, key, office, suspended};
use super::office::executor;

const SMALL: &str = r#"{"cents":1}"#;

async fn pending(office: &Office) -> CallRecord {
    let call = Call::new("found_pay", r#"{"cents":1000}"#);
    let waits = suspended(executor(office).submit(&call).await);
    office.record(waits.call).await
}

/// Invariant 15.
#[tokio::test]
async fn an_edit_by_a_key_that_is_not_trusted_takes_no_effect_even_where_it_needs_no_approval() {
    let office = office();
    let record = pending(&office).await;
    let now = office.clock.now();
    let edit = Statement::edit(&record, SMALL, "0", "mallory", now);
    let edit = key("mallory", 9).sign(&edit).unwrap();
    office.service().submit(edit, now).await.unwrap();
    executor(&office).worker().unwrap().sweep().await.unwrap();
    let after = office.record(record.id).await;
    assert_eq!((after.state, office.ran.times()), (State::Pending, 0));
    assert_eq!((after.shown, after.proposal), (record.shown, None));
    let reason = after.ask.unwrap().reason;
    assert!(reason.contains("the edit does not count") && reason.contains("not trusted"));
    // The call is as it was, and so is what Ada may say of it.
    office.approve(record.id).await.unwrap();
    executor(&office).worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.ran.all(), ["pay 1000"]);
}

#[tokio::test]
async fn an_edit_by_whoever_may_is_run_without_another_word_where_it_needs_none() {
    let office = office();
    let record = pending(&office).await;
    let edit = Statement::edit(&record, SMALL, "0", "ada", office.clock.now());
    office.say(edit).await.unwrap();
    executor(&office).worker().unwrap().sweep().await.unwrap();
    assert_eq!(office.ran.all(), ["pay 1"]);
}
