//! A journal that was written by an earlier release, when the runtime was one crate: what was decided and granted there names neither
//! the journal nor what was shown, so that a person is asked again, with the reason; and nothing of it runs twice.
//! `tests/fixtures/journal-of-one-crate` holds it, with Ada's key.

use crate::shop::Shop;

fn shop(name: &str) -> Shop {
    Shop::of_fixture(name, "journal-of-one-crate")
}

/// The refund of a run is asked about with the reason, and runs once when Ada has approved it now.
fn is_asked_about_again(shop: &Shop, run: &str) {
    let (code, said) = shop.start(run, &["--once"]).end();
    assert_eq!(code, Some(3), "{said:#?}");
    let waits = said.iter().find(|it| it.contains("refund waits for a person"));
    assert!(waits.is_some_and(|it| it.contains("older release")), "{said:#?}");
    assert_eq!(shop.refunds().len(), 0);
    let refund = shop.call(run, "refund");
    shop.ada(&["approvals", "approve", &refund]);
    let (code, said) = shop.start(run, &["--once"]).end();
    assert_eq!(code, Some(3), "{said:#?}");
    assert!(said.iter().any(|it| it.contains("refund is answered: refunded")), "{said:#?}");
    assert_eq!(shop.refunds().len(), 1);
}

#[test]
fn a_call_that_was_approved_in_an_earlier_release_is_asked_about_again() {
    is_asked_about_again(&shop("earlier-decided"), "decided");
}

#[test]
fn a_call_that_waited_in_an_earlier_release_is_shown_anew_before_it_is_approved() {
    let shop = shop("earlier-pending");
    shop.ada(&["approvals", "approve", &shop.call("pending", "refund")]);
    is_asked_about_again(&shop, "pending");
}

#[test]
fn a_grant_of_an_earlier_release_covers_nothing_and_says_why() {
    is_asked_about_again(&shop("earlier-granted"), "new");
}
