//! Defects of other policies that this one does not have, each by name.

use toolwright::approval::Statement;
use toolwright::policy::{Mode, Policy, Protection, Rule};
use toolwright::{Call, Executor, Registry};

use super::kept::{executor as kept_executor, open};
use super::support::{TOOLS, call, executor};
use crate::calls::support::{a_refund, answered, office, suspended, terms};
use crate::support::kind;

/// Elsewhere an approval of one command opened the next five, whatever they were.
#[tokio::test]
async fn an_approval_of_one_call_opens_no_other_call_of_the_tool() {
    let office = office();
    let executor = kept_executor(&office, open());
    let waits = suspended(executor.submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    assert_eq!(kind(&answered(executor.worker().unwrap().resume(waits.call).await)), "ok");
    let other = Call::new("kept_refund", r#"{"order":"A-2"}"#);
    suspended(executor.submit(&other).await);
    suspended(executor.submit(&a_refund()).await);
    assert_eq!(office.ran.times(), 1);
}

/// Elsewhere grants were looked at before prohibitions.
#[tokio::test]
async fn a_grant_is_looked_at_after_what_is_forbidden() {
    let office = office();
    let first = suspended(kept_executor(&office, open()).submit(&a_refund()).await);
    let record = office.record(first.call).await;
    let granting =
        Statement::approve_with_grant(&record, terms(&record), "ada", office.clock.now());
    office.say(granting).await.unwrap();
    let forbidding = open().rule(Rule::deny("no").named("no").tool("kept_refund"));
    let denied = answered(kept_executor(&office, forbidding).submit(&a_refund()).await);
    assert_eq!(kind(&denied), "denied");
}

/// Elsewhere a call ran, with a warning, where nobody was there to ask.
#[tokio::test]
async fn where_nobody_can_be_asked_nothing_runs_by_default() {
    let executor = Executor::builder(Registry::of(TOOLS).unwrap()).build().unwrap();
    let asked = call(&executor, "pol_shell", r#"{"command":"ls"}"#).await;
    assert_eq!(kind(&asked), "approval_required");
}

/// Elsewhere the documentation said that a mode asks, and the code let it run.
#[tokio::test]
async fn the_strict_mode_asks_about_moderate_calls_and_refuses_dangerous_ones() {
    let executor = executor(Policy::builder().mode(Mode::Strict).without(Protection::ALL));
    assert_eq!(kind(&call(&executor, "pol_write", r#"{"path":"a"}"#).await), "approval_required");
    assert_eq!(kind(&call(&executor, "pol_shell", r#"{"command":"ls"}"#).await), "denied");
}

/// Elsewhere the first rule that matched won, so that an exception above a prohibition opened it.
#[tokio::test]
async fn an_exception_opens_no_prohibition_wherever_it_stands() {
    let deny = || Rule::deny("no").named("no").tool("pol_write").writes("a/**");
    let allow = || Rule::allow("yes").named("yes").tool("pol_write");
    for rules in [[deny(), allow()], [allow(), deny()]] {
        let executor = executor(Policy::builder().rules(rules));
        assert_eq!(kind(&call(&executor, "pol_write", r#"{"path":"a/b"}"#).await), "denied");
        assert_eq!(kind(&call(&executor, "pol_write", r#"{"path":"b"}"#).await), "ok");
    }
}

/// Elsewhere paths were checked by the name of the argument, and for three tools alone.
#[tokio::test]
async fn a_file_is_protected_whatever_the_tool_and_its_argument_are_called() {
    /// Renames a file.
    #[toolwright::tool(name = "pol_move", effect = idempotent, writes(file = from, file = to))]
    async fn rename(
        /// Where it is.
        from: String,
        /// Where it goes.
        to: String,
    ) {
        drop((from, to));
    }
    let registry = Registry::of([RENAME]).unwrap();
    let policy = Policy::builder().mode(Mode::AutoSafe).root("/srv");
    let executor = Executor::builder(registry).policy(policy).build().unwrap();
    for arguments in [
        r#"{"from":"a","to":"/etc/cron.d/a"}"#,
        r#"{"from":"/etc/passwd","to":"a"}"#,
        r#"{"from":"a","to":"/srv/../etc/a"}"#,
        r#"{"from":"a","to":"/srvshop/a"}"#,
        r#"{"from":"a","to":".git/hooks/post-commit"}"#,
    ] {
        assert_eq!(kind(&call(&executor, "pol_move", arguments).await), "denied", "{arguments}");
    }
    assert_eq!(kind(&call(&executor, "pol_move", r#"{"from":"a","to":"b"}"#).await), "ok");
}

/// Elsewhere a threshold that no assessment could reach made everything ask.
#[tokio::test]
async fn each_danger_is_one_that_a_call_can_have() {
    for (mode, shell) in [
        (Mode::Strict, "denied"),
        (Mode::Interactive, "approval_required"),
        (Mode::AutoSafe, "approval_required"),
        (Mode::Unattended, "denied"),
        (Mode::Unrestricted, "ok"),
    ] {
        let executor = executor(Policy::builder().mode(mode).without(Protection::ALL));
        let found = kind(&call(&executor, "pol_shell", r#"{"command":"ls"}"#).await);
        assert_eq!(found, shell, "{mode}");
        assert_eq!(kind(&call(&executor, "pol_count", r#"{"text":"a"}"#).await), "ok", "{mode}");
    }
}

/// Elsewhere a word in the user's message (`do`) could raise a question to a yes.
#[tokio::test]
async fn what_the_caller_says_of_a_call_opens_nothing() {
    let office = office();
    let executor = kept_executor(&office, Policy::builder().without(Protection::ALL));
    let call = Call::new("kept_note", r#"{"text":"a"}"#).because("the user said: do it");
    suspended(executor.submit(&call).await);
    assert_eq!(office.ran.times(), 0);
}
