//! Every state with every event; what is not listed cannot happen.

use std::fmt::Write as _;

use insta::assert_snapshot;
use toolwright::journal::{State, Transition};
use toolwright::unstable::journal::next;

#[test]
fn the_table_is_reviewed_as_code() {
    let mut table = String::new();
    for from in State::ALL {
        let mut illegal = 0;
        for event in Transition::all() {
            match next(from, event) {
                Ok(to) => {
                    let _ = writeln!(table, "{from:<13} {:<58} {to}", shown(event));
                }
                Err(_) => illegal += 1,
            }
        }
        let _ = writeln!(table, "{from:<13} {illegal} others: illegal\n");
    }
    assert_snapshot!(table);
}

fn shown(event: Transition) -> String {
    match event {
        Transition::Errored { failure, effect, exhausted } => {
            let left = if exhausted { "last attempt" } else { "attempts left" };
            format!("failed: {failure}, {}, {left}", format!("{effect:?}").to_lowercase())
        }
        event => event.to_string(),
    }
}

#[test]
fn what_cannot_happen_is_told_in_words() {
    let twice = next(State::Ready, Transition::Approved).expect_err("it is approved already");
    assert_eq!(twice.to_string(), "a call that is ready cannot be approved");
}

#[test]
fn nothing_happens_to_a_call_that_is_final() {
    for state in State::ALL.into_iter().filter(|state| state.is_final()) {
        assert!(Transition::all().all(|event| next(state, event).is_err()), "{state}");
    }
}

#[test]
fn a_call_that_must_not_be_repeated_is_never_ready_again_after_it_may_have_acted() {
    for event in Transition::all() {
        if let Transition::Errored { failure, effect: toolwright::Effect::Once, .. } = event
            && next(State::Running, event) == Ok(State::Ready)
        {
            assert_eq!(failure, toolwright::journal::Failure::NotStarted);
        }
    }
}
