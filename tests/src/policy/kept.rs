//! With a journal: asks wait, grants count or not, and the policy is asked again when a call is claimed.

use std::path::Path;

use toolwright::approval::Statement;
use toolwright::journal::State;
use toolwright::policy::{Mode, Policy, PolicyBuilder, Rule};
use toolwright::{BuildProblem, Call, Executor};

use crate::calls::support::{Office, a_refund, answered, office, path, suspended, terms};
use crate::support::kind;

pub fn executor(office: &Office, policy: PolicyBuilder) -> Executor {
    office.ruled().policy(policy).journal(office.parking()).build().unwrap()
}

/// What runs by itself here.
pub fn open() -> PolicyBuilder {
    Policy::builder().mode(Mode::Unrestricted).without(toolwright::policy::Protection::ALL)
}

fn a_note() -> Call<'static> {
    Call::new("kept_note", r#"{"text":"a"}"#)
}

/// S1.64
#[tokio::test]
async fn what_the_mode_asks_about_waits_for_a_person_with_its_reason() {
    let office = office();
    let executor =
        executor(&office, Policy::builder().without(toolwright::policy::Protection::ALL));
    let waits = suspended(executor.submit(&a_note()).await);
    let reason = office.record(waits.call).await.ask.unwrap().reason;
    assert_eq!(reason, "the mode `interactive` asks about moderate calls");
    office.approve(waits.call).await.unwrap();
    assert_eq!(kind(&answered(executor.worker().unwrap().resume(waits.call).await)), "ok");
    assert_eq!(office.ran.times(), 1);
}

/// Invariant 16: that a call was denied is on record.
#[tokio::test]
async fn a_denied_call_is_recorded_with_its_answer() {
    let office = office();
    let rule = Rule::deny("not today").named("today").tool("kept_note");
    let executor = executor(&office, open().rule(rule));
    assert_eq!(kind(&answered(executor.submit(&a_note()).await)), "denied");
    let [record] = &office.records().await[..] else { panic!("one record") };
    assert_eq!(record.state, State::Refused);
    let history = office.history(record.id).await;
    assert_eq!(path(&history), "judging → refused");
    assert_eq!(history[1].why.as_deref(), Some("not today"));
    assert_eq!(office.ran.times(), 0);
}

/// Invariant 8: a later deny beats an earlier yes.
#[tokio::test]
async fn a_call_that_was_approved_does_not_run_when_a_rule_denies_it_by_then() {
    let office = office();
    let waits = suspended(executor(&office, open()).submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let rule = Rule::deny("not any more").named("later").tool("kept_refund");
    let stricter = executor(&office, open().rule(rule));
    assert_eq!(kind(&answered(stricter.worker().unwrap().resume(waits.call).await)), "denied");
    assert_eq!(office.ran.times(), 0);
    let history = office.history(waits.call).await;
    assert_eq!(path(&history), "judging → pending → ready → judging → refused");
    assert_eq!(history[3].why.as_deref(), Some("not any more"));
}

/// Invariant 8: a grant is no yes to what is asked about each time.
#[tokio::test]
async fn what_is_asked_about_each_time_is_asked_although_it_was_granted() {
    let office = office();
    let first = suspended(executor(&office, open()).submit(&a_refund()).await);
    let record = office.record(first.call).await;
    let granting =
        Statement::approve_with_grant(&record, terms(&record), "ada", office.clock.now());
    office.say(granting).await.unwrap();
    let granted = answered(executor(&office, open()).submit(&a_refund()).await);
    assert_eq!(kind(&granted), "ok");
    let rule = Rule::always_ask("each one").named("each").tool("kept_refund");
    let strict = executor(&office, open().rule(rule));
    let waits = suspended(strict.submit(&a_refund()).await);
    assert_eq!(waits.state, State::Pending);
    assert_eq!(office.ran.times(), 1);
    office.approve(waits.call).await.unwrap();
    assert_eq!(kind(&answered(strict.worker().unwrap().resume(waits.call).await)), "ok");
}

/// A denial comes before a grant.
#[tokio::test]
async fn a_grant_does_not_open_what_a_rule_denies() {
    let office = office();
    let first = suspended(executor(&office, open()).submit(&a_refund()).await);
    let record = office.record(first.call).await;
    let granting =
        Statement::approve_with_grant(&record, terms(&record), "ada", office.clock.now());
    office.say(granting).await.unwrap();
    let rule = Rule::deny("no refunds").named("none").tool("kept_refund");
    let strict = executor(&office, open().rule(rule));
    assert_eq!(kind(&answered(strict.submit(&a_refund()).await)), "denied");
    assert_eq!(office.ran.times(), 0);
}

/// Invariant 15
#[tokio::test]
async fn with_four_eyes_whoever_a_call_is_made_for_approves_nothing_of_it() {
    let office = office();
    let four = executor(&office, open().four_eyes(true));
    let own = four.run("own").user("ada").start().unwrap();
    let waits = suspended(own.submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    let still = suspended(own.worker().unwrap().resume(waits.call).await);
    assert_eq!(still.state, State::Pending);
    assert_eq!(office.ran.times(), 0);
    let why = office.history(waits.call).await[3].why.clone().unwrap();
    assert_eq!(why, "with `four_eyes`, the user that a call is made for may not approve it");

    let other = four.run("other").user("bob").start().unwrap();
    let waits = suspended(other.submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    assert_eq!(kind(&answered(other.worker().unwrap().resume(waits.call).await)), "ok");
}

/// Invariant 15: the policy lies outside of what tools reach.
#[test]
fn a_policy_inside_a_workspace_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, "version = 1\n").unwrap();
    let inside = |policy: PolicyBuilder, root: Option<&Path>| {
        let office = office();
        let builder = office.ruled().journal(office.parking()).policy(policy);
        let builder = root.iter().fold(builder, |it, root| it.workspace_root(root));
        builder.build().unwrap_err().problems
    };
    for problems in [
        inside(Policy::builder().load(&file).root(folder.path()), None),
        inside(Policy::builder().load(&file), Some(folder.path())),
    ] {
        assert!(
            matches!(problems[0], BuildProblem::InWorkspace { what: "policy", .. }),
            "{problems:?}"
        );
    }
}

#[tokio::test]
async fn a_read_that_a_rule_asks_about_is_kept_and_waits() {
    let office = office();
    let rule = Rule::ask("look first").named("look").tool("kept_look");
    let asking = executor(&office, open().rule(rule));
    let waits = suspended(asking.submit(&Call::new("kept_look", "{}")).await);
    assert_eq!(waits.state, State::Pending);
    assert_eq!(office.ran.times(), 0);
    let quiet = executor(&office, open().rule(Rule::ask("else").named("else").tool("kept_note")));
    assert_eq!(kind(&answered(quiet.submit(&Call::new("kept_look", "{}")).await)), "ok");
    assert_eq!(office.records().await.len(), 1, "a read that runs at once is not kept");
}
