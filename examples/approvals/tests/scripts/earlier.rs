//! A journal that was written when the runtime was one crate: what was decided and granted there still counts, and
//! no call has another digest now. `tests/fixtures/journal-of-one-crate` holds it, with Ada's key.

use crate::shop::Shop;

fn shop(name: &str) -> Shop {
    Shop::of_fixture(name, "journal-of-one-crate")
}

#[test]
fn a_call_that_was_approved_in_an_earlier_release_runs_once_and_asks_nobody() {
    let shop = shop("earlier-decided");
    let (code, said) = shop.start("decided", &["--once"]).end();
    assert_eq!(code, Some(3), "{said:#?}");
    assert!(said.iter().any(|it| it.contains("refund is answered: refunded")), "{said:#?}");
    let refund = shop.call("decided", "refund");
    assert_eq!(shop.refunds().len(), 1);
    let history = shop.history(&refund);
    assert!(history.contains("approved by ada") && history.contains("succeeded"), "{history}");
    assert!(!history.contains("generation 2"), "it was judged anew: {history}");
}

#[test]
fn a_call_that_waited_in_an_earlier_release_is_approved_by_what_was_shown_then() {
    let shop = shop("earlier-pending");
    let refund = shop.call("pending", "refund");
    shop.ada(&["approvals", "approve", &refund]);
    let (code, said) = shop.start("pending", &["--once"]).end();
    assert_eq!(code, Some(3), "{said:#?}");
    assert!(said.iter().any(|it| it.contains("refund is answered: refunded")), "{said:#?}");
    assert_eq!(shop.refunds().len(), 1);
}

#[test]
fn a_grant_of_an_earlier_release_covers_the_calls_of_a_new_run() {
    let shop = shop("earlier-granted");
    let (code, said) = shop.start("new", &["--once"]).end();
    assert_eq!(code, Some(3), "{said:#?}");
    assert!(said.iter().any(|it| it.contains("refund is answered: refunded")), "{said:#?}");
    let history = shop.history(&shop.call("new", "refund"));
    assert!(history.contains("covered by grant"), "{history}");
}
