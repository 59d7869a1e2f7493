//! What `toolwright calls` shows of a call whose tool is defined in another way than when a person decided on it.

use serde_json::{Value, json};
use toolwright::approval::ApproverKey;
use toolwright::journal::Journal as CallJournal;
use toolwright::{Call, CallId, DynamicTool, Executor, OnNoApprover, Registry};

use super::journal::Journal;

struct Office {
    journal: Journal,
    registry: Registry,
    executor: Executor,
    runtime: tokio::runtime::Runtime,
}

impl Office {
    fn new() -> Self {
        let (journal, registry) = (Journal::new(), Registry::empty());
        let ada = ApproverKey::from_seed("ada", [7; 32]).unwrap();
        let executor = Executor::builder(registry.clone())
            .journal(
                CallJournal::new(journal.store.clone())
                    .trust("ada", ada.public())
                    .on_no_approver(OnNoApprover::Park),
            )
            .build()
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        Self { journal, registry, executor, runtime }
    }

    /// Defines the tool with these words, in place of the one that there was.
    fn define(&self, words: &str) {
        let _ = self.registry.unregister("deploy");
        let schema = json!({"type": "object", "properties": {}});
        let tool =
            DynamicTool::new("deploy", words, schema, |_, _| async { Ok(Value::from("deployed")) });
        self.registry.register(tool).unwrap();
    }

    /// A call that waits.
    fn call(&self) -> CallId {
        let run = self.executor.run("drift").start().unwrap();
        let outcome = self.runtime.block_on(run.submit(&Call::new("deploy", "{}")));
        outcome.suspended().unwrap_or_else(|| panic!("{outcome:?}")).call
    }

    fn resume(&self, call: CallId) -> toolwright::Outcome {
        self.runtime.block_on(self.executor.worker().unwrap().resume(call))
    }

    fn run(&self, words: &[&str]) -> String {
        let ran = self.journal.run(words);
        assert_eq!(ran.code, 0, "{}", ran.err);
        // Long lines go on below.
        ran.out.replace("\n           … ", "")
    }
}

#[test]
fn an_approval_that_no_longer_counts_is_shown_with_the_reason() {
    let office = Office::new();
    office.define("Deploy to the test machine");
    let call = office.call();
    let id = call.to_string();
    office.run(&["approvals", "approve", &id]);
    office.define("Deploy to production");
    assert!(office.resume(call).suspended().is_some());
    let why = "its tool has changed since it was evaluated";
    for command in ["show", "history", "trace"] {
        let shown = office.run(&["calls", command, &id]);
        assert!(shown.contains(why), "{command}: {shown}");
    }
}

#[test]
fn a_grant_that_no_longer_counts_is_named_in_the_question() {
    let office = Office::new();
    office.define("Deploy to the test machine");
    let call = office.call();
    office.run(&["approvals", "grant", &call.to_string(), "--scope", "run", "--exactly"]);
    assert!(office.resume(call).answer().is_some());
    office.define("Deploy to production");
    let id = office.call().to_string();
    let shown = office.run(&["calls", "show", &id]);
    assert!(shown.contains("its tool has changed since grant "), "{shown}");
    let listed = office.run(&["approvals", "show", &id]);
    assert!(listed.contains("its tool has changed since grant "), "{listed}");
}
