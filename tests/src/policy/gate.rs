//! Without a journal: what is allowed runs, what is denied is refused, what somebody would have to decide is refused
//! as well.

use std::sync::{Arc, Mutex};

use toolwright::policy::{ArgumentTest, Mode, Policy, Rule};
use toolwright::{BuildProblem, Call, Executor, Registry, ToolEventKind};

use super::support::{TOOLS, call, executor};
use crate::support::kind;

/// S1.4
#[tokio::test]
async fn without_a_word_what_is_safe_runs_and_the_rest_asks() {
    let executor = Executor::builder(Registry::of(TOOLS).unwrap()).build().unwrap();
    assert_eq!(call(&executor, "pol_count", r#"{"text":"abc"}"#).await.text(), "3");
    assert_eq!(call(&executor, "pol_read", r#"{"path":"a"}"#).await.text(), "read a");
    let asked = call(&executor, "pol_write", r#"{"path":"a"}"#).await;
    assert_eq!(kind(&asked), "approval_required");
    let words = asked.error().unwrap().to_string();
    assert!(words.contains("the mode `interactive` asks about moderate calls"), "{words}");
}

/// S1.62
#[tokio::test]
async fn a_denied_call_is_told_why_and_does_not_run() {
    let rule = Rule::deny("generated").named("generated").writes("gen/**");
    let executor = executor(Policy::builder().mode(Mode::AutoSafe).rule(rule));
    let denied = call(&executor, "pol_write", r#"{"path":"gen/a"}"#).await;
    assert_eq!(denied.error().unwrap().to_string(), "`pol_write` is not allowed here: generated");
    assert_eq!(kind(&denied), "denied");
    assert_eq!(call(&executor, "pol_write", r#"{"path":"a"}"#).await.text(), "wrote a false");
}

#[tokio::test]
async fn a_rule_sees_arguments_as_they_will_run() {
    let forced = Rule::deny("no force").named("force").tool("pol_write");
    let forced = forced.argument("/force", ArgumentTest::equals("true"));
    let executor = executor(Policy::builder().mode(Mode::AutoSafe).rule(forced));
    // A text that is mended to `true`, a spelling of the key that is mended, and the default.
    for arguments in [r#"{"path":"a","force":"true"}"#, r#"{"path":"a","Force":true}"#] {
        assert_eq!(kind(&call(&executor, "pol_write", arguments).await), "denied", "{arguments}");
    }
    assert_eq!(kind(&call(&executor, "pol_write", r#"{"path":"a"}"#).await), "ok");
}

/// S1.63: keys, `.git`, `.env` and what lies outside the roots, whatever the argument is called.
#[tokio::test]
async fn protected_files_are_refused_by_what_a_call_touches() {
    let policy = Policy::builder().mode(Mode::AutoSafe).root("/srv");
    let executor = executor(policy);
    for (path, because) in [
        (".git/config", "protect-git"),
        ("/srv/.git/hooks/pre-commit", "protect-git"),
        (".env", "protect-env"),
        (".env.local", "protect-env"),
        ("web/.env.production", "protect-env"),
        ("./web/../.env.local", "protect-env"),
        ("id_rsa", "protect-keys"),
        ("/etc/passwd", "workspace-bounds"),
        ("../x", "workspace-bounds"),
    ] {
        let arguments = serde_json::json!({ "path": path }).to_string();
        assert_eq!(kind(&call(&executor, "pol_write", &arguments).await), "denied", "{path}");
        let explained = executor.explain(&Call::new("pol_write", arguments)).unwrap();
        assert_eq!(explained.because(), [because], "{path}");
    }
    for harmless in ["src/a", "env.local", "web/git/config"] {
        let arguments = serde_json::json!({ "path": harmless }).to_string();
        assert_eq!(kind(&call(&executor, "pol_write", &arguments).await), "ok", "{harmless}");
    }
    let shell = call(&executor, "pol_shell", r#"{"command":"cat .env"}"#).await;
    assert_eq!(kind(&shell), "approval_required");
}

#[tokio::test]
async fn a_policy_of_no_restrictions_has_to_be_spelt_out() {
    let executor = executor(Policy::builder().mode(Mode::Unrestricted));
    assert_eq!(kind(&call(&executor, "pol_write", r#"{"path":".git/config"}"#).await), "denied");
    assert_eq!(kind(&call(&executor, "pol_write", r#"{"path":"a"}"#).await), "ok");
}

#[test]
fn a_rule_about_a_tool_that_is_not_there_fails_the_build() {
    let rule = Rule::deny("never").named("never").tool("pol_writ");
    let builder = Executor::builder(Registry::of(TOOLS).unwrap());
    let error = builder.policy(Policy::builder().rule(rule)).build().unwrap_err();
    assert!(matches!(error.problems[..], [BuildProblem::Policy(_)]), "{error}");
    assert!(error.to_string().contains("`pol_write`"), "{error}");
}

#[test]
fn a_plan_without_a_journal_fails_the_build() {
    let builder = Executor::builder(Registry::of(TOOLS).unwrap());
    let error = builder.policy(Policy::builder().plan(true)).build().unwrap_err();
    assert_eq!(error.problems, [BuildProblem::NoPlan]);
}

#[test]
fn an_explanation_names_who_decided_and_what_the_others_say() {
    let rule = Rule::deny("generated").named("generated").writes("gen/**");
    let executor = executor(Policy::builder().rule(rule));
    let explained = executor.explain(&Call::new("pol_write", r#"{"path":"gen/a"}"#)).unwrap();
    insta::assert_snapshot!(explained);
}

#[tokio::test]
async fn every_judgement_is_an_event() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let telling = Arc::clone(&told);
    let executor = Executor::builder(Registry::of(TOOLS).unwrap())
        .listen(move |event| {
            if let ToolEventKind::Judged { verdict, .. } = event.kind {
                telling.lock().unwrap().push(serde_json::to_string(verdict).unwrap());
            }
        })
        .build()
        .unwrap();
    call(&executor, "pol_count", r#"{"text":"a"}"#).await;
    call(&executor, "pol_write", r#"{"path":".git/a"}"#).await;
    let told = told.lock().unwrap();
    assert_eq!(told[0], r#"{"verdict":"allow"}"#);
    assert!(told[1].starts_with(r#"{"verdict":"deny""#), "{}", told[1]);
}
