//! A stored trace is decided as it was: every step, of a call that is edited, tried twice, dies, is requeued and succeeds.

use call_model::story::edited_and_requeued;
use toolwright_executor::lifecycle::Then;
use toolwright_executor::lifecycle::trace::{TraceRefusal, replay};
use toolwright_journal::journal::State;

const STORED: &str = include_str!("stories/edited-and-requeued.jsonl");

#[test]
fn a_stored_trace_is_decided_as_it_was() {
    assert_eq!(replay(STORED), Ok(Some(Then::Report)));
}

#[test]
fn the_model_goes_the_way_of_the_stored_trace() {
    let (_, decisions, state) = edited_and_requeued();
    let now: String = decisions.iter().map(|decided| decided.to_line() + "\n").collect();
    assert_eq!(state, Some(State::Succeeded));
    assert!(now == STORED, "print the trace with `--story` and look at what has changed:\n{now}");
}

#[test]
fn a_trace_without_one_of_its_steps_is_refused() {
    let lines: Vec<&str> = STORED.lines().collect();
    // The last one is missed by nobody.
    for left_out in 0..lines.len() - 1 {
        let trace: Vec<&str> = lines
            .iter()
            .enumerate()
            .filter(|(number, _)| *number != left_out)
            .map(|(_, line)| *line)
            .collect();
        let refused = replay(&trace.join("\n")).expect_err("a step is missing");
        let is_named =
            matches!(refused, TraceRefusal::Missing { .. } | TraceRefusal::Beginning { .. });
        assert!(is_named, "without step {}: {refused}", left_out + 1);
    }
}

#[test]
fn a_trace_of_a_newer_version_is_refused() {
    let newer = STORED.replacen("\"format\":1", "\"format\":2", 1);
    let refused = replay(&newer).expect_err("it is newer");
    assert_eq!(refused, TraceRefusal::Newer { step: 1, found: 2 });
    assert!(refused.to_string().ends_with("update"), "{refused}");
}

#[test]
fn a_history_of_a_newer_version_is_refused() {
    let newer = STORED.replace("\"claimed\"", "\"teleported\"");
    let refused = replay(&newer).expect_err("no such transition is known here");
    assert!(refused.to_string().contains("unknown variant `teleported`"), "{refused}");
}
