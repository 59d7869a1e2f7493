//! What an approval of a foreign call counts for.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolwright::approval::{ApprovalService, ApproverKey};
use toolwright::journal::{Journal, MemoryStore};
use toolwright::{Call, CallId, Executor, OnNoApprover, Outcome, Registry};
use toolwright_mcp::McpServers;

use super::configuration;

/// A folder for the server, and a journal that processes with different configurations share.
struct Shared {
    folder: tempfile::TempDir,
    store: Arc<MemoryStore>,
    key: ApproverKey,
}

impl Shared {
    fn new() -> Self {
        let (folder, store) = (tempfile::tempdir().unwrap(), Arc::new(MemoryStore::new()));
        Self { folder, store, key: ApproverKey::generate("ada").unwrap() }
    }

    /// A process whose server has this variable. Only the variables of the server differ, so that its definitions stay the
    /// same.
    fn process(&self, account: &str) -> Executor {
        let journal = Journal::shared(Arc::clone(&self.store) as _).trust("ada", self.key.public());
        let journal = journal.on_no_approver(OnNoApprover::Park);
        let more = format!("env = {{ ACCOUNT = {account:?} }}");
        let config = configuration(self.folder.path(), &more);
        let builder = Executor::builder(Registry::empty()).with(McpServers::new(config));
        builder.timeout(Some(Duration::from_secs(20))).journal(journal).build().unwrap()
    }

    async fn approved(&self, process: &Executor, call: &Call<'_>) -> CallId {
        let submitted = process.submit(call).await;
        let Outcome::Suspended(waits) = submitted else { panic!("{submitted:?}") };
        let approvals = ApprovalService::new(Arc::clone(&self.store) as _);
        approvals.approve(waits.call, &self.key).await.unwrap();
        waits.call
    }

    async fn resumed(&self, process: &Executor, call: CallId) -> Outcome {
        process.worker().unwrap().resume(call).await
    }

    fn is_called(&self) -> bool {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.contains("called echo")
    }
}

#[tokio::test]
async fn an_approval_counts_for_the_server_that_was_configured_then() {
    for (later, is_run) in [("one", true), ("other", false)] {
        let shared = Shared::new();
        let call = Call::new("peer__echo", r#"{"text":"hi"}"#);
        let id = shared.approved(&shared.process("one"), &call).await;
        let resumed = shared.resumed(&shared.process(later), id).await;
        assert_eq!(matches!(resumed, Outcome::Answered(_)), is_run, "{later}: {resumed:?}");
        assert_eq!(shared.is_called(), is_run, "{later}");
    }
}

#[tokio::test]
async fn an_approval_of_mcp_exec_counts_for_the_server_that_was_configured_then() {
    for (later, is_run) in [("one", true), ("other", false)] {
        let shared = Shared::new();
        let first = shared.process("one");
        let info = first.call(&Call::new("mcp_info", r#"{"name":"peer__echo"}"#)).await;
        let info = info.text().into_owned();
        let (_, digits) = info.lines().next().unwrap().split_once(", definition ").unwrap();
        let arguments =
            json!({"name": "peer__echo", "definition": digits, "arguments": {"text": "hi"}});
        let call = Call::new("mcp_exec", arguments.to_string());
        let id = shared.approved(&first, &call).await;
        let resumed = shared.resumed(&shared.process(later), id).await;
        let Outcome::Answered(answer) = resumed else { panic!("{later}: {resumed:?}") };
        let kind = if is_run { "" } else { "definition_changed" };
        assert_eq!(super::kind(&answer), kind, "{later}: {}", answer.text());
        assert_eq!(shared.is_called(), is_run, "{later}");
    }
}
