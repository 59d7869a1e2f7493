//! Which ticket comes first, and that one runner has it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

use board::board::SliceEnd;
use board::ticket::{Author, CommentKind, Evidence, NewComment, Outcome, State};
use board::{Board, BoardError};
use jiff::{SignedDuration, Timestamp};

use crate::support::{Around, around, now};

fn after(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

fn says(around: &Around, ticket: i64) -> i64 {
    let new = NewComment {
        ticket,
        parent: None,
        author: Author::Human,
        author_id: "ada",
        author_name: "Ada",
        kind: CommentKind::Feedback,
        content: "Hot.",
        key: None,
    };
    around.board.add_comment(&new, now()).unwrap()
}

/// Claims the next ticket and ends its slice so.
fn worked(around: &Around, outcome: Outcome) -> Option<i64> {
    let claim = around.board.claim_next("one", now(), after(60)).unwrap()?;
    let end = SliceEnd { outcome, detail: String::new(), not_before: now() };
    around.board.end_slice(&claim, &end, now()).unwrap();
    Some(claim.ticket)
}

/// `S4.79`: what a person has written, what was returned, what is in progress, what is in research; the rest belongs to people.
#[test]
fn the_next_ticket_is_the_one_that_a_person_has_written_on_then_returned_then_begun_then_new() {
    let around = around();
    let research = around.ticket(State::Research, &[]);
    let begun = around.ticket(State::InProgress, &[]);
    let returned = around.ticket(State::Verification, &[]);
    let answered = around.ticket(State::Research, &[]);
    for state in [State::Backlog, State::Verification, State::Done] {
        let ticket = around.ticket(state, &[]);
        says(&around, ticket);
    }
    around.board.move_by_person(returned, State::InProgress, "it is cold", "Ada", now()).unwrap();
    assert_eq!(around.board.ticket(returned).unwrap().sub_state.unwrap().name(), "returned");
    let comment = says(&around, answered);
    assert_eq!(worked(&around, Outcome::Blocked), Some(answered));
    around.board.mark_read(answered, comment).unwrap();
    let rest: Vec<_> = std::iter::from_fn(|| worked(&around, Outcome::Blocked)).collect();
    assert_eq!(rest, [returned, begun, research]);
    // A blocked ticket comes again when a person writes.
    says(&around, begun);
    assert_eq!(worked(&around, Outcome::Blocked), Some(begun));
}

#[test]
fn of_two_runners_that_look_at_once_each_ticket_has_one() {
    let around = around();
    for _ in 0..40 {
        around.ticket(State::Research, &[]);
    }
    let path = around.board.path().to_owned();
    let claims = ["one", "two", "three", "four"].map(|name| {
        let board = Board::open(&path).unwrap();
        thread::spawn(move || {
            let mut mine = Vec::new();
            while let Some(claim) = board.claim_next(name, now(), after(60)).unwrap() {
                mine.push(claim.ticket);
            }
            mine
        })
    });
    let all: Vec<i64> = claims.into_iter().flat_map(|it| it.join().unwrap()).collect();
    assert_eq!((all.len(), all.iter().collect::<BTreeSet<_>>().len()), (40, 40));
}

#[test]
fn a_claim_that_has_run_out_passes_on_and_its_runner_records_nothing_more() {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    let board = Arc::clone(&around.board);
    let late = board.claim_next("late", now(), after(60)).unwrap().unwrap();
    assert_eq!(board.claim_next("next", after(59), after(120)).unwrap(), None);
    let next = board.claim_next("next", after(60), after(120)).unwrap().unwrap();
    assert_eq!((next.ticket, next.epoch), (ticket, late.epoch + 1));
    let end =
        SliceEnd { outcome: Outcome::Completed, detail: "late".to_owned(), not_before: now() };
    assert!(matches!(board.end_slice(&late, &end, now()), Err(BoardError::ClaimLost { .. })));
    assert!(matches!(board.renew_claim(&late, after(600)), Err(BoardError::ClaimLost { .. })));
    assert_eq!(board.ticket(ticket).unwrap().sub_state, None);
    board.renew_claim(&next, after(600)).unwrap();
    assert_eq!(board.outcome_before(&next).unwrap(), None);
    let slices = board.slices(ticket, 9).unwrap();
    let named: Vec<_> = slices.iter().map(|it| (it.runner.as_str(), it.outcome)).collect();
    assert_eq!(named, [("late", None), ("next", None)]);
}

/// A ticket that waits is claimed with each heartbeat.
#[test]
fn of_the_slices_of_a_ticket_the_newest_are_read_in_order() {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    for number in 0..4 {
        let claim = around.board.claim_next(&number.to_string(), after(number), after(number + 1));
        assert_eq!(claim.unwrap().unwrap().ticket, ticket);
    }
    let slices = around.board.slices(ticket, 3).unwrap();
    let runners: Vec<_> = slices.iter().map(|it| it.runner.as_str()).collect();
    assert_eq!(runners, ["1", "2", "3"]);
}

#[test]
fn a_ticket_that_a_person_has_moved_away_has_no_sub_state_of_its_agent() {
    let around = around();
    let ticket = around.ticket(State::InProgress, &[]);
    let claim = around.board.claim_next("one", now(), after(60)).unwrap().unwrap();
    around.board.move_by_person(ticket, State::Backlog, "not now", "Ada", now()).unwrap();
    let refused = around.board.move_by_agent(ticket, State::Verification, "done", "", "key", now());
    assert_eq!(refused.unwrap_err().to_string(), "Invalid transition: BACKLOG → VERIFICATION");
    let end = SliceEnd { outcome: Outcome::Error, detail: String::new(), not_before: now() };
    around.board.end_slice(&claim, &end, now()).unwrap();
    let found = around.board.ticket(ticket).unwrap();
    assert_eq!((found.state, found.sub_state), (State::Backlog, None));
}

/// Its run has something to say still, such as what was done.
#[test]
fn a_ticket_whose_runner_is_killed_after_the_move_to_verification_is_finished_by_the_next_one() {
    let around = around();
    let board = &around.board;
    let [finished, left, timed] =
        [(); 3].map(|()| around.ticket(State::InProgress, &[(Evidence::Person, "It is hot")]));
    for ticket in [finished, left, timed] {
        let mut criterion = board.criteria(ticket).unwrap().remove(0);
        criterion.met = true;
        board.record_finding(ticket, &criterion, now()).unwrap();
        let claim = board.claim_next("killed", now(), after(60)).unwrap().unwrap();
        assert_eq!(claim.ticket, ticket);
        let key = format!("key {ticket}");
        board.move_by_agent(ticket, State::Verification, "done", "", &key, now()).unwrap();
        let end = |outcome| SliceEnd { outcome, detail: String::new(), not_before: now() };
        if ticket == timed {
            board.end_slice(&claim, &end(Outcome::Timeout), now()).unwrap();
        } else if ticket == finished {
            board.end_slice(&claim, &end(Outcome::Completed), now()).unwrap();
        }
    }
    let next = |at| board.claim_next("next", at, after(999)).unwrap().map(|it| it.ticket);
    assert_eq!(next(now()), Some(timed));
    assert_eq!(next(now()), None, "the lease of the killed runner is not over");
    assert_eq!(next(after(61)), Some(left));
    assert_eq!(next(after(61)), None);
    // What a person has moved since is theirs.
    board.move_by_person(timed, State::Done, "I have read it", "Ada", after(1000)).unwrap();
    board.move_by_person(timed, State::Verification, "or not", "Ada", after(1000)).unwrap();
    assert_eq!(next(after(1001)), Some(left));
}

/// A comment that a run cannot be given yet, because a call of it waits for instance, is no reason to look again and again.
#[test]
fn a_ticket_that_did_not_get_on_rests_until_the_next_heartbeat_or_a_new_comment() {
    let around = around();
    let ticket = around.ticket(State::Research, &[]);
    says(&around, ticket);
    let claimed = |seconds| {
        let claim = around.board.claim_next("one", after(seconds), after(seconds + 60)).unwrap()?;
        let not_before = after(seconds + 60);
        let end = SliceEnd { outcome: Outcome::Waiting, detail: String::new(), not_before };
        around.board.end_slice(&claim, &end, after(seconds)).unwrap();
        Some(claim.ticket)
    };
    assert_eq!(claimed(0), Some(ticket));
    assert_eq!(claimed(59), None);
    assert_eq!(claimed(60), Some(ticket));
    says(&around, ticket);
    assert_eq!(claimed(61), Some(ticket));
    assert_eq!(claimed(62), None);
}
