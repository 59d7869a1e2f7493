//! A call that wants a person's word is refused as long as no approver can be asked.

use toolwright::{Call, DeclaredApproval, tool};

use crate::support::{builder, kind};

/// Counts how often it ran.
#[derive(Default)]
struct Runs(std::sync::atomic::AtomicU32);

impl Runs {
    fn count(&self) -> u32 {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }

    fn add(&self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

/// Sends money.
#[tool(approval = "it sends money")]
async fn pay(runs: &Runs) {
    runs.add();
}

/// Removes a file.
#[tool(approval = path.ends_with(".db").then(|| format!("`{path}` is a database")))]
async fn remove(
    runs: &Runs,
    /// Which.
    path: String,
) {
    let _ = path;
    runs.add();
}

#[tokio::test]
async fn a_tool_that_always_asks_is_refused_with_its_reason_and_does_not_run() {
    let executor = builder([PAY]).service(Runs::default()).build().unwrap();
    assert_eq!(
        executor.registry().get("pay").unwrap().approval,
        DeclaredApproval::Always("it sends money")
    );
    let answer = executor.call(&Call::new("pay", "{}")).await;
    assert_eq!(kind(&answer), "approval_required");
    assert!(answer.text().contains("it sends money"));
}

#[tokio::test]
async fn a_computed_reason_refuses_the_calls_that_have_one_and_lets_the_others_run() {
    let runs = std::sync::Arc::new(Runs::default());
    let executor = builder([REMOVE]).service_arc(runs.clone()).build().unwrap();
    assert_eq!(executor.registry().get("remove").unwrap().approval, DeclaredApproval::Computed);
    let refused = executor.call(&Call::new("remove", r#"{"path":"a.db"}"#)).await;
    assert_eq!((kind(&refused).as_str(), runs.count()), ("approval_required", 0));
    assert!(refused.text().contains("`a.db` is a database"));
    let ran = executor.call(&Call::new("remove", r#"{"path":"a.txt"}"#)).await;
    assert_eq!((kind(&ran).as_str(), runs.count()), ("ok", 1));
}
