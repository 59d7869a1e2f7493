//! Approvals that have to be awaited: `approval = async |…| …`, before the policy is asked, and again at each claim.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolwright::journal::{Journal, MemoryStore, State};
use toolwright::policy::{Mode, Policy, PolicyDecision, Protection};
use toolwright::{
    Call, DeclaredApproval, Executor, ExecutorBuilder, OnNoApprover, Outcome, Registry, ToolError,
    tool,
};

use crate::support::{Log, kind};

/// The hosts to which a person has agreed.
#[derive(Clone, Default)]
struct Hosts(Arc<Mutex<Vec<String>>>);

impl Hosts {
    async fn reason(&self, host: &str) -> Result<Option<String>, ToolError> {
        tokio::task::yield_now().await;
        match host {
            "panic" => panic!("no"),
            "hang" => std::future::pending().await,
            "broken" => Err(ToolError::new("unreadable", "the list cannot be read")),
            _ => {
                let is_known = self.0.lock().unwrap().iter().any(|it| it == host);
                Ok((!is_known).then(|| format!("`{host}` is not on the list")))
            }
        }
    }
}

/// Fetches a page.
#[tool(unlinked, effect = read, reads(), approval = async |hosts, host| hosts.reason(&host).await)]
async fn awaited_fetch(
    hosts: &Hosts,
    log: &Log,
    /// Which host.
    host: String,
) -> &'static str {
    let _ = hosts;
    log.add(host);
    "a page"
}

/// Orders an article.
#[tool(unlinked, effect = once, writes(), approval = |article| match article.as_str() {
    "tea" => None,
    _ => Some("it is no tea"),
})]
async fn awaited_order(
    log: &Log,
    /// Which article.
    article: String,
) -> &'static str {
    log.add(article);
    "ordered"
}

async fn by_path(_: &Log, article: String, copies: u8) -> Option<String> {
    (copies > 3).then(|| format!("{copies} of {article}"))
}

/// Prints an article.
#[tool(unlinked, effect = once, writes(), approval = by_path)]
async fn awaited_print(
    log: &Log,
    /// Which article.
    article: String,
    /// How often.
    copies: u8,
) -> &'static str {
    log.add(format!("{article} {copies}"));
    "printed"
}

fn builder(log: &Log, hosts: &Hosts) -> ExecutorBuilder {
    let registry = Registry::of([AWAITED_FETCH, AWAITED_ORDER, AWAITED_PRINT]).unwrap();
    Executor::builder(registry).service(log.clone()).service(hosts.clone())
}

fn open() -> toolwright::policy::PolicyBuilder {
    Policy::builder().mode(Mode::Unrestricted).without(Protection::ALL)
}

fn fetch(host: &str) -> Call<'static> {
    Call::new("awaited_fetch", serde_json::json!({"host": host}).to_string())
}

/// S3.28, S3.30: a call runs at once where nothing asks, and is refused or waits where its tool does; what cannot be found out asks.
#[tokio::test(start_paused = true)]
async fn a_tool_asks_by_what_it_has_awaited() {
    for with_journal in [false, true] {
        for is_open in [false, true] {
            let (log, hosts) = (Log::default(), Hosts::default());
            hosts.0.lock().unwrap().push("docs".to_owned());
            let builder = match is_open {
                true => builder(&log, &hosts).unrestricted(),
                false => builder(&log, &hosts).policy(open()),
            };
            let executor = match with_journal {
                true => builder
                    .journal(Journal::new(MemoryStore::new()).on_no_approver(OnNoApprover::Deny)),
                false => builder,
            };
            let executor = executor.build().unwrap();
            assert_eq!(kind(&executor.call(&fetch("docs")).await), "ok");
            for (host, why) in [
                ("elsewhere", "`elsewhere` is not on the list"),
                ("broken", "could not be found out: the list cannot be read"),
                ("panic", "could not be found out: its tool panicked"),
                ("hang", "could not be found out: "),
            ] {
                let refused = executor.call(&fetch(host)).await;
                assert_eq!(kind(&refused), "approval_required", "{host} {with_journal} {is_open}");
                assert!(refused.text().contains(why), "{host}: {}", refused.text());
            }
            assert_eq!(log.lines(), ["docs"]);
        }
    }
}

#[tokio::test]
async fn what_it_says_is_journalled_and_asked_again_when_the_call_is_claimed() {
    let (log, hosts, store) = (Log::default(), Hosts::default(), MemoryStore::new());
    let journal = || Journal::new(store.clone()).on_no_approver(OnNoApprover::Park);
    let executor = builder(&log, &hosts).policy(open()).journal(journal()).build().unwrap();
    let run = executor.run("r1").start().unwrap();
    let call = Call::new("awaited_order", r#"{"article":"gold"}"#);
    let Outcome::Suspended(waits) = run.submit(&call).await else { panic!("it waits") };
    assert_eq!(waits.state, State::Pending);
    assert_eq!(waits.request.unwrap().reason, "it is no tea");
    assert!(log.lines().is_empty());
    let tea = Call::new("awaited_order", r#"{"article":"tea"}"#);
    assert_eq!(kind(&run.call(&tea).await), "ok");
}

#[tokio::test]
async fn a_path_is_awaited_as_a_closure_is() {
    let (log, hosts) = (Log::default(), Hosts::default());
    let executor = builder(&log, &hosts).policy(open()).build().unwrap();
    let print = |copies: u8| {
        Call::new(
            "awaited_print",
            serde_json::json!({"article": "a", "copies": copies}).to_string(),
        )
    };
    assert_eq!(kind(&executor.call(&print(3)).await), "ok");
    assert!(executor.call(&print(4)).await.text().contains("4 of a"));
}

/// Where nothing is waited for, the answer is known at once; what would have to be waited for is not known, and asks.
#[tokio::test]
async fn examine_and_explain_say_why() {
    let (log, hosts) = (Log::default(), Hosts::default());
    let executor = builder(&log, &hosts).policy(open()).build().unwrap();
    let gold = Call::new("awaited_order", r#"{"article":"gold"}"#);
    assert_eq!(executor.examine(&gold).unwrap().approval.as_deref(), Some("it is no tea"));
    assert_eq!(executor.explain(&gold).unwrap().because(), ["tool"]);
    let tea = Call::new("awaited_order", r#"{"article":"tea"}"#);
    assert_eq!(executor.examine(&tea).unwrap().approval, None);
    assert_eq!(executor.explain(&tea).unwrap().verdict, PolicyDecision::Allow);
    let facts = executor.examine(&fetch("docs")).unwrap();
    assert_eq!(
        facts.approval.as_deref(),
        Some("whether it needs approval is found out when it is made")
    );
    assert_eq!(
        executor.registry().get("awaited_fetch").unwrap().approval,
        DeclaredApproval::Computed
    );
}

/// A tool whose approval is an expression takes no more time than before: nothing of it is awaited.
#[tokio::test]
async fn the_time_limit_is_ten_seconds() {
    tokio::time::pause();
    let (log, hosts) = (Log::default(), Hosts::default());
    let executor = builder(&log, &hosts).policy(open()).build().unwrap();
    let begun = tokio::time::Instant::now();
    assert_eq!(kind(&executor.call(&fetch("hang")).await), "approval_required");
    assert_eq!(begun.elapsed().as_secs(), Duration::from_secs(10).as_secs());
}
