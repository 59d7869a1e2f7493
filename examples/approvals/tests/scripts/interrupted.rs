//! The application is killed while the refund runs: before the payment, and after it. In both cases the journal knows
//! only that it was begun.

use crate::shop::{Application, Shop, filtered};

/// The refund is approved and begun, the application killed where it says so, and started again. The id of the refund
/// and the application, which has found it interrupted.
fn killed(shop: &Shop, at: &str) -> (String, Application) {
    let mut first = shop.start("ticket-1", &["--pause", "3000"]);
    let refund = first.waits("refund");
    shop.ada(&["approvals", "approve", &refund]);
    first.until(at);
    first.kill();
    let mut second = shop.start("ticket-1", &[]);
    second.until("refund was interrupted");
    let listed = shop.toolwright(&["indeterminate", "list"]);
    assert!(listed.out.contains(&refund), "{listed:?}");
    (refund, second)
}

fn end(shop: &Shop, mut application: Application) {
    let account = application.waits("delete_account");
    shop.ada(&["approvals", "reject", &account, "--reason", "the customer stays"]);
    assert_eq!(application.end().0, Some(0));
}

#[test]
fn killed_before_the_payment_it_is_not_run_again_until_a_person_says_that_it_did_not_happen() {
    let shop = Shop::new("before");
    let (refund, mut second) = killed(&shop, "nothing is paid yet");
    assert!(shop.refunds().is_empty());
    shop.ada(&["indeterminate", "resolve", &refund, "--did-not-happen"]);
    // It is judged again, and the approval was of what is over.
    assert_eq!(second.waits("refund"), refund);
    assert!(shop.refunds().is_empty());
    shop.ada(&["approvals", "approve", &refund]);
    second.until("refund is answered: refunded 42.00 EUR for order A-1001");
    end(&shop, second);
    assert_eq!(shop.refunds(), ["refund A-1001 4200"]);
    filtered(|| insta::assert_snapshot!(shop.history(&refund)));
}

#[test]
fn killed_after_the_payment_it_is_not_run_again_and_goes_on_with_what_a_person_says() {
    let shop = Shop::new("after");
    let (refund, mut second) = killed(&shop, "refund has paid");
    assert_eq!(shop.refunds(), ["refund A-1001 4200"]);
    let result = "refunded 42.00 EUR, found in the bank's statement";
    shop.ada(&["indeterminate", "resolve", &refund, "--happened", result]);
    second.until(&format!("refund is answered: {result}"));
    end(&shop, second);
    assert_eq!(shop.refunds(), ["refund A-1001 4200"]);
    filtered(|| insta::assert_snapshot!(shop.history(&refund)));
}

/// Resolved while nobody runs, it is gone on with by whoever comes.
#[test]
fn a_person_may_say_what_happened_while_nobody_runs() {
    let shop = Shop::new("resolved");
    let (refund, second) = killed(&shop, "refund has paid");
    second.kill();
    shop.ada(&["indeterminate", "resolve", &refund, "--happened", "refunded 42.00 EUR"]);
    let mut third = shop.start("ticket-1", &[]);
    third.until("refund is answered: refunded 42.00 EUR");
    end(&shop, third);
    assert_eq!(shop.refunds().len(), 1);
}
