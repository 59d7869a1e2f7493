//! `toolwright calls watch`: what happens is told as it happens.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use jiff::Timestamp;
use toolwright::journal::Transition;

use super::journal::{EMPTY, INDETERMINATE, Journal, PENDING, call};

fn watching(journal: &Journal, arguments: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let arguments = [&["calls", "watch", "--interval", "20ms"], arguments].concat();
    let mut child = journal.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

fn line(output: &mut BufReader<ChildStdout>) -> serde_json::Value {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn one_call_is_watched_until_it_is_at_its_end() {
    let journal = Journal::new();
    let (mut child, mut output) = watching(&journal, &[EMPTY, "--json"]);
    assert_eq!(line(&mut output)["to"], "judging");
    assert_eq!(line(&mut output)["to"], "pending");
    assert_eq!(journal.run(&["approvals", "approve", EMPTY]).code, 0);
    let approved = line(&mut output);
    assert_eq!((&approved["event"], &approved["who"]), (&"approved".into(), &"ada".into()));
    journal.happens(EMPTY, Transition::Claimed);
    journal.happens(EMPTY, Transition::Succeeded);
    assert_eq!(line(&mut output)["to"], "running");
    assert_eq!(line(&mut output)["to"], "succeeded");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn all_calls_are_watched_from_now_on() {
    let journal = Journal::new();
    let mut command = journal.command(&["calls", "watch", "--interval", "20ms", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut words = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut words).unwrap();
    assert_eq!(words, "note: watching from now on, until interrupted\n");

    let time = format!("{:012x}", Timestamp::now().as_millisecond());
    let new = format!("{}-{}-7000-8000-0000000000ff", &time[..8], &time[8..]);
    let mut record = call(&new, "restart", "{}");
    record.place.index = 100;
    journal.add(record, &[Transition::Asked]);
    let told = |output: &mut _, id: &str, to: &str| {
        let line = line(output);
        assert_eq!((&line["call"], &line["to"]), (&id.into(), &to.into()), "{line}");
    };
    told(&mut output, &new, "judging");
    told(&mut output, &new, "pending");
    journal.happens(&new, Transition::Expired);
    told(&mut output, &new, "expired");
    journal.happens(PENDING, Transition::RunEnded);
    told(&mut output, PENDING, "cancelled");
    journal.happens(INDETERMINATE, Transition::DidNotHappen);
    told(&mut output, INDETERMINATE, "judging");
    child.kill().unwrap();
    child.wait().unwrap();
}
