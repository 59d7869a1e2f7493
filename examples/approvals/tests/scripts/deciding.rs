//! The application is killed while it waits; a person decides from another process, and it is started again.

use crate::shop::{Shop, filtered};

/// Ada wants no accounts deleted today, so that the run can end.
fn keep_the_account(shop: &Shop, id: &str) {
    shop.ada(&["approvals", "reject", id, "--reason", "the customer stays"]);
}

/// Asks for the refund, and is killed while it waits. The id of the refund.
fn asked_and_killed(shop: &Shop) -> String {
    let mut first = shop.start("ticket-1", &[]);
    let refund = first.waits("refund");
    first.kill();
    assert!(shop.refunds().is_empty());
    refund
}

#[test]
fn what_is_approved_while_nobody_runs_is_run_once() {
    let shop = Shop::new("approved");
    let refund = asked_and_killed(&shop);
    shop.ada(&["approvals", "approve", &refund]);

    let mut second = shop.start("ticket-1", &[]);
    second.until("refund is answered: refunded 42.00 EUR for order A-1001");
    keep_the_account(&shop, &second.waits("delete_account"));
    assert_eq!(second.end().0, Some(0));

    // Started once more, it gets every answer again and does nothing.
    let (code, said) = shop.start("ticket-1", &[]).end();
    assert_eq!(code, Some(0), "{said:#?}");
    assert_eq!(shop.refunds(), ["refund A-1001 4200"]);
    assert_eq!(shop.ledger().len(), 2, "one refund and one receipt: {:#?}", shop.ledger());
    filtered(|| insta::assert_snapshot!(shop.history(&refund)));
}

#[test]
fn about_an_order_that_does_not_exist_nobody_is_asked() {
    let shop = Shop::new("mistaken");
    let mut mistaken = shop.start("ticket-1", &["--mistaken"]);
    let answer = mistaken.until("refund is answered");
    assert!(answer.contains("there is no order `A-9999`"), "{answer}");
    assert_eq!(mistaken.end().0, Some(0));
    let calls = shop.toolwright(&["calls", "list", "--run", "ticket-1", "--json"]).out;
    assert!(calls.contains("there is no order `A-9999`"), "the refusal is recorded: {calls}");
    assert_eq!(shop.toolwright(&["approvals", "list", "--json"]).out, "", "no call waits");
    assert!(shop.refunds().is_empty());
}

#[test]
fn what_is_rejected_is_answered_with_the_reason_and_not_run() {
    let shop = Shop::new("rejected");
    let refund = asked_and_killed(&shop);
    shop.ada(&["approvals", "reject", &refund, "--reason", "it was paid back last week"]);

    let mut second = shop.start("ticket-1", &[]);
    let answer = second.until("refund is answered");
    assert!(answer.contains("it was paid back last week"), "{answer}");
    keep_the_account(&shop, &second.waits("delete_account"));
    assert_eq!(second.end().0, Some(0));
    assert!(shop.refunds().is_empty());
    filtered(|| insta::assert_snapshot!(shop.history(&refund)));
}

#[test]
fn what_is_edited_runs_once_as_it_was_edited() {
    let shop = Shop::new("edited");
    let refund = asked_and_killed(&shop);
    let half = r#"{"order":"A-1001","cents":2100}"#;
    shop.ada(&["approvals", "edit", &refund, "--arguments", half]);

    let mut second = shop.start("ticket-1", &[]);
    second.until("refund is answered: refunded 21.00 EUR for order A-1001");
    keep_the_account(&shop, &second.waits("delete_account"));
    assert_eq!(second.end().0, Some(0));
    assert_eq!(shop.refunds(), ["refund A-1001 2100"]);
    filtered(|| insta::assert_snapshot!(shop.history(&refund)));
}

#[test]
fn what_nobody_decides_in_time_is_answered_and_not_run() {
    let shop = Shop::new("expired");
    let mut first = shop.start("ticket-1", &["--expires", "1"]);
    let refund = first.waits("refund");
    first.kill();

    let (code, said) = shop.start("ticket-1", &["--expires", "1"]).end();
    assert_eq!(code, Some(0), "{said:#?}");
    let answer = said.iter().find(|line| line.starts_with("refund is answered")).unwrap();
    assert!(answer.contains("the call of `refund` was not approved in time"), "{answer}");
    let late = shop.command_of_ada(&["approvals", "approve", &refund]);
    assert_eq!(late.code, Some(4), "{late:?}");
    assert!(shop.refunds().is_empty());
    filtered(|| insta::assert_snapshot!(shop.history(&refund)));
}

#[test]
fn what_is_granted_is_not_asked_again_by_another_run() {
    let shop = Shop::new("granted");
    let refund = asked_and_killed(&shop);
    shop.ada(&["approvals", "grant", &refund, "--scope", "forever", "--exactly"]);
    let mut second = shop.start("ticket-1", &[]);
    second.until("refund is answered: refunded");
    keep_the_account(&shop, &second.waits("delete_account"));
    assert_eq!(second.end().0, Some(0));

    let mut other = shop.start("ticket-2", &[]);
    keep_the_account(&shop, &other.waits("delete_account"));
    let (code, said) = other.end();
    assert_eq!(code, Some(0));
    assert!(!said.iter().any(|line| line.starts_with("refund waits")), "{said:#?}");
    assert_eq!(shop.refunds().len(), 2);
    let covered = shop.call("ticket-2", "refund");
    let histories = format!("{}\n{}", shop.history(&refund), shop.history(&covered));
    filtered(|| insta::assert_snapshot!(histories));
}

#[test]
fn of_two_applications_on_one_journal_one_runs_the_call_and_both_are_answered() {
    let shop = Shop::new("two");
    let mut one = shop.start("ticket-1", &["--pause", "200"]);
    let mut other = shop.start("ticket-1", &["--pause", "200"]);
    let refund = one.waits("refund");
    assert_eq!(other.waits("refund"), refund);
    shop.ada(&["approvals", "approve", &refund]);
    let account = one.waits("delete_account");
    assert_eq!(other.waits("delete_account"), account);
    keep_the_account(&shop, &account);
    for application in [one, other] {
        let (code, said) = application.end();
        assert_eq!(code, Some(0), "{said:#?}");
        assert!(said.iter().any(|line| line.contains("refund is answered: refunded 42.00 EUR")));
    }
    assert_eq!(shop.refunds(), ["refund A-1001 4200"]);
    filtered(|| insta::assert_snapshot!(shop.history(&refund)));
}

#[test]
fn an_application_that_must_not_wait_says_by_its_exit_code_that_something_does() {
    let shop = Shop::new("once");
    let (code, said) = shop.start("ticket-1", &["--once"]).end();
    assert_eq!(code, Some(3), "{said:#?}");
    shop.ada(&["approvals", "approve", &shop.call("ticket-1", "refund")]);
    assert_eq!(shop.start("ticket-1", &["--once"]).end().0, Some(3));
    assert_eq!(shop.refunds().len(), 1);
    keep_the_account(&shop, &shop.call("ticket-1", "delete_account"));
    assert_eq!(shop.start("ticket-1", &["--once"]).end().0, Some(0));
    assert_eq!(shop.refunds().len(), 1);
}
