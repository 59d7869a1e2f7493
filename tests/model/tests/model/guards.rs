//! Each check is there for a property, which falls without it.

use std::collections::BTreeSet;

use call_model::cases::cases;
use call_model::properties as property;
use call_model::report::{explore, shortest};
use call_model::scenario::{Budget, Policy, Scenario};
use call_model::scenarios::{FAIR, one};
use call_model::switches::Switch;
use toolwright_core::tool::Effect::Once;
use toolwright_executor::lifecycle::trace::replay;

#[test]
fn a_property_falls_without_its_check() {
    for case in cases() {
        let (report, guard, falls) = (case.explore(), case.guard, case.falls);
        let way = report.fall.iter().find(|(property, _)| *property == falls);
        let Some((_, steps)) = way else {
            panic!("without {guard:?} this holds as well: {falls}\n{report}");
        };
        println!("{guard:?}, {} steps: {falls}\n  {}", steps.len(), steps.join(", "));
        assert!(!steps.is_empty(), "{falls} is false from the beginning");
        let (_, trace) = report.traces.iter().find(|(of, _)| *of == falls).expect("its trace");
        assert!(trace.lines().count() > 0, "{guard:?}: nothing was decided on the way");
    }
}

#[test]
fn every_check_is_there_for_a_property() {
    let shown: BTreeSet<Switch> = cases().iter().map(|case| case.guard).collect();
    assert_eq!(shown, Switch::ALL.into());
}

#[test]
fn the_trace_of_a_fallen_property_is_decided_otherwise_with_the_check() {
    let case = cases().into_iter().find(|case| case.falls == property::DENIED).expect("a case");
    let report = case.explore();
    let (_, trace) = report.traces.first().expect("it falls");
    let refused = replay(trace).expect_err("the policy's denial comes first");
    assert!(refused.to_string().contains("is decided differently now"), "{refused}");
}

/// A lease is no lock: an owner that sleeps through it may act after a person has looked. That is why a tool is given
/// a key, and why whoever is asked should not be asked at once.
#[test]
fn an_effect_happens_twice_where_late_owners_act_after_a_person_has_looked() {
    let lapse = Budget { lapses: 1, ..FAIR };
    let late =
        Scenario { ends_run: false, ..one("late owners act", Once, &[Policy::Allow], lapse) };
    let report = shortest(&late, property::ONE_EFFECT);
    assert!(report.falls_after(property::ONE_EFFECT).is_some(), "{report}");
    let stop = Scenario { late_owners_act: false, ..late };
    let report = explore(&stop, 2);
    assert!(report.falls_after(property::ONE_EFFECT).is_none(), "{report}");
}
