//! Three parcels, each of which goes wrong in a way of its own: one is tried again, one is the model's to mend, one
//! becomes a dead letter that Ada mends. Approving it is another matter.

use std::fmt::Write as _;

use crate::shop::{Shop, filtered};

#[test]
fn what_may_be_tried_again_is_and_what_nobody_understands_waits_for_an_operator() {
    let shop = Shop::new("parcels");
    let mut parcels = shop.start("parcels-1", &["--parcels"]);
    for answer in [
        "send_parcel is answered: the parcel of order A-2001 is on its way, for 90 cents",
        r#"send_parcel is answered: {"is_error":true,"error_type":"no_such_country""#,
        r#"send_parcel is answered: {"is_error":true,"error_type":"panic""#,
    ] {
        parcels.until(answer);
    }
    assert_eq!(parcels.end().0, Some(0));
    assert_eq!(shop.ledger().len(), 1, "{:#?}", shop.ledger());

    let calls = shop.toolwright(&["calls", "list", "--run", "parcels-1", "--json"]).out;
    let ids: Vec<String> = calls.lines().map(|line| crate::shop::id(line).unwrap()).collect();
    let [retried, wrong, dead] = &ids[..] else { panic!("{ids:?}") };
    let mut shown = String::new();
    let mut show = |arguments: &[&str]| {
        let ran = shop.command_of_ada(arguments);
        let _ = writeln!(shown, "$ toolwright {}\n{}{}", arguments.join(" "), ran.out, ran.err);
    };
    show(&["calls", "history", retried]);
    show(&["calls", "history", wrong]);
    show(&["dead-letters", "list"]);
    show(&["dead-letters", "show", dead]);
    // 120 kg, not 120 g: the model had left out the `k`.
    show(&["dead-letters", "edit", dead, "--set", "/grams=12000"]);

    // The application judges the edit. It is heavy now, so that a person has to approve it.
    let (code, _) = shop.start("parcels-1", &["--parcels", "--once"]).end();
    assert_eq!(code, Some(0), "the run has all of its answers");
    let mut other = shop.start("ticket-9", &[]);
    let until = |state: &str| {
        for _ in 0..600 {
            let calls = ["calls", "list", "--run", "parcels-1", "--state", state, "--json"];
            if shop.toolwright(&calls).out.contains(dead.as_str()) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("{dead} is not {state}: {}", shop.history(dead));
    };
    until("pending");
    show(&["approvals", "list", "--tool", "send_parcel"]);
    show(&["approvals", "approve", dead]);
    until("succeeded");
    show(&["calls", "history", dead]);
    other.waits("refund");
    other.kill();

    let parcels: Vec<String> =
        shop.ledger().into_iter().filter(|line| line.starts_with("parcel ")).collect();
    assert_eq!(parcels.len(), 2, "{parcels:#?}");
    assert!(parcels[1].starts_with("parcel A-2003 Iceland 12000 "), "{parcels:#?}");
    // The run keeps the answer that it got.
    let (_, said) = shop.start("parcels-1", &["--parcels", "--once"]).end();
    assert!(said.iter().any(|line| line.contains(r#""error_type":"panic""#)), "{said:#?}");
    filtered(|| insta::assert_snapshot!(shown));
}
