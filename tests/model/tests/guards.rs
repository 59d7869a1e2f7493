//! Each guard is there for a property, which falls without it.

use std::collections::BTreeSet;

use call_model::properties as property;
use call_model::report::{explore, shortest};
use call_model::scenario::{Budget, Scenario};
use call_model::scenarios::{FAIR, one};
use call_model::switches::Switch;
use toolwright::Effect::{self, Idempotent, Once};

/// A guard, the property that needs it, and the smallest scenario in which that shows.
struct Case {
    guard: Switch,
    falls: &'static str,
    effect: Effect,
    asks: bool,
    budget: Budget,
}

fn cases() -> Vec<Case> {
    let case = |guard, falls, effect, asks, budget| Case { guard, falls, effect, asks, budget };
    let crash = Budget { crashes: 1, ..FAIR };
    let lapse = Budget { lapses: 1, ..FAIR };
    let deadline = Budget { deadlines: 1, ..FAIR };
    let change = Budget { changes: 1, ..FAIR };
    let lost_and_changed = Budget { changes: 1, crashes: 1, ..FAIR };
    let unheard_and_changed = Budget { changes: 1, unheard: 1, ..FAIR };
    vec![
        case(Switch::NoCompareAndSet, property::ENDED, Once, true, FAIR),
        case(Switch::NoCompareAndSet, property::ONCE, Once, true, FAIR),
        case(Switch::NotWrittenAhead, property::ONCE, Once, true, crash),
        case(Switch::NoFence, property::FENCED, Once, false, lapse),
        case(Switch::NotJudgedAtClaim, property::IN_TIME, Once, true, deadline),
        case(Switch::DecisionNotBound, property::DECIDED, Once, true, change),
        case(Switch::DecisionNotBound, property::APPROVAL_ONCE, Idempotent, true, lost_and_changed),
        case(Switch::DeskNotBound, property::BOUND, Once, true, unheard_and_changed),
        case(Switch::ExpiryIgnored, property::IN_TIME, Once, true, deadline),
        case(Switch::LostOnceRetried, property::ONCE, Once, false, crash),
        case(Switch::PlaceNotKept, property::ONE_ANSWER, Once, false, FAIR),
        case(Switch::PlaceNotKept, property::ONCE, Once, false, FAIR),
        case(Switch::NobodyResumes, property::NOT_STRANDED, Once, true, FAIR),
        case(Switch::NobodySweeps, property::NOT_STRANDED, Once, false, crash),
        case(Switch::DecisionApart, property::NOT_STRANDED, Once, true, crash),
        case(Switch::AnswerReplaced, property::ONE_ANSWER, Idempotent, false, FAIR),
        case(Switch::OwnResultTold, property::ONE_ANSWER, Idempotent, false, FAIR),
        case(Switch::HistoryNotCut, property::NOT_ACCUSED, Once, true, FAIR),
        case(Switch::RunEndUnseen, property::RUN_OVER, Once, false, FAIR),
        case(Switch::RunEndNotCommitted, property::RUN_OVER, Once, false, FAIR),
        case(Switch::DoubtSkipped, property::NOT_FORGED, Once, false, FAIR),
        case(Switch::RenewalUnseen, property::RENEWED, Once, false, lapse),
    ]
}

#[test]
fn a_property_falls_without_its_guard() {
    for Case { guard, falls, effect, asks, budget } in cases() {
        let scenario = one("without a guard", effect, asks, budget).without(&[guard]);
        let report = shortest(&scenario, falls);
        let way = report.fall.iter().find(|(property, _)| *property == falls);
        let Some((_, steps)) = way else {
            panic!("without {guard:?} this holds as well: {falls}\n{report}");
        };
        println!("{guard:?}, {} steps: {falls}\n  {}", steps.len(), steps.join(", "));
        assert!(!steps.is_empty(), "{falls} is false from the beginning");
    }
}

#[test]
fn every_guard_is_there_for_a_property() {
    let shown: BTreeSet<Switch> = cases().iter().map(|case| case.guard).collect();
    assert_eq!(shown, Switch::ALL.into());
}

/// A lease is no lock: an owner that sleeps through it may act after a person has looked. That is why a tool is given
/// a key, and why whoever is asked should not be asked at once.
#[test]
fn an_effect_happens_twice_where_late_owners_act_after_a_person_has_looked() {
    let lapse = Budget { lapses: 1, ..FAIR };
    let late = one("late owners act", Once, false, lapse);
    let report = shortest(&late, property::ONE_EFFECT);
    println!("{report}");
    assert!(report.falls_after(property::ONE_EFFECT).is_some(), "{report}");
    let stop = Scenario { late_owners_act: false, ..late };
    let report = explore(&stop, 2);
    assert!(report.falls_after(property::ONE_EFFECT).is_none(), "{report}");
}
