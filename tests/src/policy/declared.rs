//! Tools that do not say which files they touch, at work.

use serde_json::json;
use toolwright::journal::Journal;
use toolwright::policy::{Mode, Policy, PolicyBuilder};
use toolwright::{
    Answer, Call, DynamicTool, Executor, Footprint, OnNoApprover, Registry, ToolError, tool,
};

use crate::calls::odd::Odd;
use crate::support::kind;

/// Adds an entry to the account.
#[tool(name = "pol_add_entry", effect = once)]
async fn add_entry(
    /// How much, in cents.
    amount: i64,
) -> String {
    format!("added {amount}")
}

/// Sends a file.
#[tool(name = "pol_send", effect = once, reads(file = path))]
async fn send(
    /// Which.
    path: String,
) -> String {
    format!("sent {path}")
}

fn lax() -> PolicyBuilder {
    Policy::builder().mode(Mode::AutoSafe)
}

fn executor(policy: PolicyBuilder) -> Executor {
    Executor::builder(Registry::of([ADD_ENTRY, SEND]).unwrap()).policy(policy).build().unwrap()
}

async fn an_entry(executor: &Executor) -> Answer {
    executor.call(&Call::new("pol_add_entry", r#"{"amount":7}"#)).await
}

#[tokio::test]
async fn the_model_reads_what_a_tool_does_not_say_and_not_what_is_protected() {
    let asked = an_entry(&executor(lax())).await;
    assert_eq!(kind(&asked), "approval_required");
    assert_eq!(
        asked.error().unwrap().to_string(),
        "`pol_add_entry` needs a person's approval (`pol_add_entry` does not say what it writes: add `writes()`, or \
         list it under `touches_no_files` of the policy), and no approver can be asked here"
    );
    for word in [".git", ".env", "key", "secret"] {
        assert!(!asked.text().contains(word), "{word}: {}", asked.text());
    }
}

#[tokio::test]
async fn a_listed_tool_runs_unasked_and_one_that_is_not_listed_does_not() {
    let executor = executor(lax().touches_no_files(["pol_add_entry"]));
    assert_eq!(an_entry(&executor).await.text(), "added 7");
    let other = executor.call(&Call::new("pol_send", r#"{"path":"a"}"#)).await;
    assert_eq!(kind(&other), "approval_required");
    let found: Vec<String> = executor.lint().into_iter().map(|it| it.tool).collect();
    assert_eq!(found, ["pol_send"]);
}

#[tokio::test]
async fn what_a_listed_tool_says_that_it_reads_still_counts() {
    let executor = executor(lax().touches_no_files(["pol_send"]));
    assert_eq!(kind(&executor.call(&Call::new("pol_send", r#"{"path":"a"}"#)).await), "ok");
    let key = executor.call(&Call::new("pol_send", r#"{"path":"server.pem"}"#)).await;
    assert_eq!(kind(&key), "approval_required");
    assert!(key.text().contains("keys are secret"), "{}", key.text());
}

#[tokio::test]
async fn a_tool_that_comes_later_under_a_listed_name_is_asked_about() {
    let executor = executor(lax().touches_no_files(["pol_add_entry"]));
    let later = |says_nothing: bool| {
        let schema = json!({"type": "object"});
        let tool = DynamicTool::new("pol_add_entry", "Adds.", schema, |_, _| async {
            Ok::<_, ToolError>("added elsewhere")
        });
        if says_nothing { tool } else { tool.footprint_by(|_| Footprint::nothing()) }
    };
    executor.registry().unregister("pol_add_entry").unwrap();
    executor.registry().register(later(true)).unwrap();
    let asked = an_entry(&executor).await;
    assert_eq!(kind(&asked), "approval_required");
    assert!(asked.text().contains("add `footprint_by`"), "{}", asked.text());
    executor.registry().unregister("pol_add_entry").unwrap();
    executor.registry().register(later(false)).unwrap();
    assert_eq!(an_entry(&executor).await.text(), "added elsewhere");
}

#[tokio::test]
async fn a_policy_in_a_file_gives_no_leave_to_write_that_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    let text = "version = 1\nmode = \"auto-safe\"\ntouches_no_files = [\"pol_add_entry\"]\n";
    std::fs::write(&file, text).unwrap();
    let loaded = executor(Policy::builder().load(&file));
    let explained = loaded.explain(&Call::new("pol_add_entry", r#"{"amount":7}"#)).unwrap();
    assert_eq!(explained.because(), ["protect-policy"]);
    let needed = "`pol_add_entry` does not say what it writes: add `writes()`, or an allow with `touches` to the policy";
    assert_eq!(loaded.lint()[0].to_string(), needed);
    let built_in = executor(Policy::builder().text("policy.toml", text));
    assert_eq!(an_entry(&built_in).await.text(), "added 7");
}

#[tokio::test]
async fn a_policy_gives_no_leave_to_write_the_journal() {
    let store = Odd { file: Some("/var/calls.db".into()), ..Odd::default() };
    let policy = lax().base("/").touches_no_files(["pol_add_entry"]);
    let executor = Executor::builder(Registry::of([ADD_ENTRY]).unwrap())
        .policy(policy)
        .journal(Journal::new(store).on_no_approver(OnNoApprover::Deny))
        .build()
        .unwrap();
    let explained = executor.explain(&Call::new("pol_add_entry", r#"{"amount":7}"#)).unwrap();
    assert_eq!(explained.because(), ["protect-journal"]);
    assert_eq!(kind(&an_entry(&executor).await), "approval_required");
}

#[test]
fn an_explanation_names_the_protections_that_want_to_know_what_a_tool_writes() {
    let explain = |policy: PolicyBuilder| {
        let call = Call::new("pol_add_entry", r#"{"amount":7}"#);
        executor(policy).explain(&call).unwrap().to_string()
    };
    let explained = [
        explain(lax()),
        explain(lax().touches_no_files(["pol_add_entry"])),
        explain(lax().plan(false).base("/").journal("/calls.db")),
    ];
    insta::assert_snapshot!(explained.join("\n\n"));
}
