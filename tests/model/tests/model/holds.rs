//! With every check in its place, every property holds in every state.

use call_model::report::explore;
use call_model::scenarios::short;

#[test]
fn every_property_holds_in_every_state() {
    for scenario in short() {
        let report = explore(&scenario, 2);
        println!("{report}");
        assert!(report.fall.is_empty(), "{report}");
        assert!(report.unique > 50, "hardly anything was explored: {report}");
    }
}
