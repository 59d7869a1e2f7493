//! What an approval of a foreign call counts for.

use std::sync::Arc;
use std::time::Duration;

use toolwright::approval::{ApprovalService, ApproverKey};
use toolwright::journal::{Journal, MemoryStore};
use toolwright::{Call, Executor, OnNoApprover, Outcome, Registry};
use toolwright_mcp::McpServers;

use super::configuration;

/// Only the variables of the server differ, so that its definitions stay the same.
#[tokio::test]
async fn an_approval_counts_for_the_server_that_was_configured_then() {
    let key = ApproverKey::generate("ada").unwrap();
    for (later, is_run) in [("one", true), ("other", false)] {
        let (folder, store) = (tempfile::tempdir().unwrap(), Arc::new(MemoryStore::new()));
        let process = |account: &str| {
            let journal = Journal::shared(Arc::clone(&store) as _).trust("ada", key.public());
            let journal = journal.on_no_approver(OnNoApprover::Park);
            let config =
                configuration(folder.path(), &format!("env = {{ ACCOUNT = {account:?} }}"));
            let builder = Executor::builder(Registry::empty()).with(McpServers::new(config));
            builder.timeout(Some(Duration::from_secs(20))).journal(journal).build().unwrap()
        };
        let call = Call::new("peer__echo", r#"{"text":"hi"}"#);
        let submitted = process("one").submit(&call).await;
        let Outcome::Suspended(waits) = submitted else { panic!("{submitted:?}") };
        let approvals = ApprovalService::new(Arc::clone(&store) as _);
        approvals.approve(waits.call, &key).await.unwrap();
        let resumed = process(later).worker().unwrap().resume(waits.call).await;
        assert_eq!(matches!(resumed, Outcome::Answered(_)), is_run, "{later}: {resumed:?}");
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        assert_eq!(log.contains("called"), is_run, "{log}");
    }
}
