//! A file that changes counts when it is read again, whole or not at all.

use std::path::PathBuf;

use toolwright::policy::Policy;

use super::kept::executor as kept_executor;
use super::support::{call, executor};
use crate::calls::support::{a_refund, answered, office, suspended};
use crate::support::kind;

struct File(tempfile::TempDir);

impl File {
    fn new(text: &str) -> Self {
        let file = Self(tempfile::tempdir().unwrap());
        file.write(text);
        file
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("policy.toml")
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path(), format!("version = 1\n{text}")).unwrap();
    }
}

const SAFE: &str = "mode = \"auto-safe\"\n";
const NO_WRITES: &str =
    "mode = \"auto-safe\"\n[[deny]]\nname = \"no\"\nreason = \"not now\"\ntool = \"pol_write\"\n";

#[tokio::test]
async fn a_changed_file_counts_from_the_moment_it_is_read_again() {
    let file = File::new(SAFE);
    let executor = executor(Policy::builder().load(file.path()));
    let write = || call(&executor, "pol_write", r#"{"path":"a"}"#);
    assert_eq!(kind(&write().await), "ok");
    file.write(NO_WRITES);
    assert_eq!(kind(&write().await), "ok", "nobody has read it again");
    executor.reload_policy().unwrap();
    assert_eq!(kind(&write().await), "denied");
}

#[tokio::test]
async fn a_file_with_a_mistake_leaves_everything_as_it_was() {
    let file = File::new(NO_WRITES);
    let executor = executor(Policy::builder().load(file.path()));
    file.write("mode = \"unrestricted\"\n[[allow]]\nname = \"all\"\nreason = \"?\"\ntool = \"pol_wrote\"\n");
    let error = executor.reload_policy().unwrap_err();
    assert!(error.to_string().contains("`pol_wrote`"), "{error}");
    assert_eq!(kind(&call(&executor, "pol_write", r#"{"path":"a"}"#).await), "denied");
    std::fs::remove_file(file.path()).unwrap();
    assert!(executor.reload_policy().is_err());
    assert_eq!(kind(&call(&executor, "pol_write", r#"{"path":"a"}"#).await), "denied");
}

#[tokio::test]
async fn a_plan_that_cannot_be_kept_is_not_begun_by_reading_a_file_again() {
    let file = File::new(SAFE);
    let executor = executor(Policy::builder().load(file.path()));
    file.write("mode = \"auto-safe\"\nplan = true\n");
    let error = executor.reload_policy().unwrap_err();
    assert!(error.to_string().contains("there is no journal"), "{error}");
}

#[tokio::test]
async fn what_was_approved_is_judged_by_the_policy_that_was_read_again() {
    let file = File::new("mode = \"unrestricted\"\n");
    let office = office();
    let executor = kept_executor(&office, Policy::builder().load(file.path()));
    let waits = suspended(executor.submit(&a_refund()).await);
    office.approve(waits.call).await.unwrap();
    file.write("mode = \"unrestricted\"\n[[deny]]\nname = \"no\"\nreason = \"stopped\"\ntool = \"kept_refund\"\n");
    executor.reload_policy().unwrap();
    assert_eq!(kind(&answered(executor.worker().unwrap().resume(waits.call).await)), "denied");
    assert_eq!(office.ran.times(), 0);
}
