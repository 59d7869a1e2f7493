//! Whatever a tool would miss is found when the executor is built, before any call.

use toolwright::policy::Policy;
use toolwright::{BuildProblem, tool};

use crate::support::{Held, Log, PING, builder, ping};

/// One service.
struct One;
/// Another service.
struct Other;

/// Needs two services and a resource.
#[tool]
async fn need_three(one: &One, other: &Other, held: &mut Held<1>) {
    let _ = (one, other, held);
}

/// Needs one service.
#[tool]
async fn need_one(one: &One) {
    let _ = one;
}

#[test]
fn every_tool_and_everything_it_misses_is_named_in_one_error() {
    let error = builder([NEED_THREE, NEED_ONE, PING]).service(Other).build().unwrap_err();
    let missing: Vec<(&str, bool)> = error
        .problems
        .iter()
        .map(|problem| match problem {
            BuildProblem::Missing { tool, requirement, .. } => {
                (tool.as_str(), requirement.exclusive)
            }
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(missing, [("need_three", false), ("need_three", true), ("need_one", false)]);
    let words = error.to_string();
    for part in
        ["`need_three` at tests/src/building.rs:", "(package tests)", "`&tests::building::One`"]
    {
        assert!(words.contains(part), "{part} is not in {words}");
    }
}

#[test]
fn everything_and_a_policy_are_not_both_taken() {
    let error = builder([PING]).policy(Policy::builder()).build().unwrap_err();
    assert_eq!(error.problems, [BuildProblem::TwoPolicies]);
}

#[test]
fn a_limit_that_lets_no_call_run_is_refused() {
    assert_eq!(builder([PING]).limit(0).build().unwrap_err().problems, [BuildProblem::NoCalls]);
}

#[test]
fn a_type_that_is_given_in_two_ways_is_refused() {
    let log = Log::default();
    for twice in [
        builder([PING]).service(log.clone()).service(log.clone()),
        builder([PING]).service(log.clone()).per_run::<Log>(),
        builder([PING]).per_run::<Log>().per_call::<Log>(),
    ] {
        let error = twice.build().unwrap_err();
        assert!(matches!(error.problems.as_slice(), [BuildProblem::GivenTwice { .. }]), "{error}");
    }
}

#[tokio::test]
async fn a_service_that_no_tool_needs_does_no_harm() {
    let executor = builder([PING]).service(One).build().unwrap();
    assert_eq!(executor.call(&crate::support::call("ping")).await.text(), ping().await);
}
