//! A rule of a tool refuses a call before anybody is asked about it, and again when the call is about to begin.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::json;
use toolwright::approval::{ApprovalRequest, Callback, Response};
use toolwright::journal::{Filter, MemoryStore, Page, State, Store as _};
use toolwright::{
    BeforeCall, Call, DynamicTool, Executor, Middleware, MiddlewareCall, Registry, ToolError, tool,
};

use super::support::{answered, key};
use crate::support::kind;

/// What the supplier has.
#[derive(Clone, Default)]
struct Supplier(Arc<Mutex<BTreeSet<String>>>);

impl Supplier {
    fn with(article: &str) -> Self {
        Self(Arc::new(Mutex::new([article.to_owned()].into())))
    }

    async fn has(&self, article: &str) -> Result<bool, ToolError> {
        match article {
            "gone" => Err(ToolError::new("database_gone", "the database is gone")),
            "odd" => panic!("nobody thought of that"),
            _ => Ok(self.0.lock().unwrap().contains(article)),
        }
    }
}

/// Order articles from the supplier.
#[tool(
    approval = "it spends money",
    unlinked,
    validate = async |supplier, article| -> Result<(), ToolError> {
        match supplier.has(&article).await? {
            true => Ok(()),
            false => Err(ToolError::invalid(format!("the supplier has no `{article}`")).hint("look at the list")),
        }
    }
)]
async fn order(
    supplier: &Supplier,
    /// The article.
    article: String,
    /// How many.
    count: u32,
) -> String {
    let _ = supplier;
    format!("ordered {count} {article}")
}

/// Tells the price.
#[tool(effect = read, unlinked, validate = |article| may_be_asked_for(&article))]
async fn price(
    /// The article.
    article: String,
) -> u32 {
    u32::try_from(article.len()).unwrap_or_default()
}

fn may_be_asked_for(article: &str) -> Result<(), ToolError> {
    if article == "secret" { Err(ToolError::invalid("nobody may know")) } else { Ok(()) }
}

/// An executor whose person approves everything, and how often they were asked.
struct Shop {
    executor: Executor,
    store: MemoryStore,
    asked: Arc<AtomicUsize>,
}

fn shop(supplier: &Supplier, when_asked: impl Fn() + Send + Sync + 'static) -> Shop {
    let (store, asked) = (MemoryStore::new(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&asked);
    let approver = Callback::new(move |_: &ApprovalRequest| {
        counted.fetch_add(1, Ordering::SeqCst);
        when_asked();
        Response::Approve
    });
    let executor = Executor::builder(Registry::of([ORDER]).unwrap())
        .service(supplier.clone())
        .journal(store.clone())
        .approver(key("ada", 1), approver)
        .build()
        .unwrap();
    Shop { executor, store, asked }
}

#[tokio::test]
async fn what_the_rule_refuses_is_answered_and_nobody_is_asked() {
    let shop = shop(&Supplier::with("tea"), || ());
    // Repaired before the rule sees it.
    let refused =
        shop.executor.call(&Call::new("order", r#"{"article":"gold","count":"1"}"#)).await;
    let error = refused.error().unwrap();
    assert_eq!((error.kind(), error.message()), ("invalid_input", "the supplier has no `gold`"));
    assert_eq!(error.next_action(), Some("look at the list"));
    assert_eq!(shop.asked.load(Ordering::SeqCst), 0);
    let taken = shop.executor.call(&Call::new("order", r#"{"article":"tea","count":"2"}"#)).await;
    assert_eq!(taken.text(), "ordered 2 tea");
    assert_eq!(shop.asked.load(Ordering::SeqCst), 1);
}

/// The run has gone on with the refusal: made again after a crash, the turn is answered alike.
#[tokio::test]
async fn what_the_rule_refuses_in_a_turn_is_refused_when_the_turn_is_made_again() {
    let supplier = Supplier::with("tea");
    let shop = shop(&supplier, || ());
    let run = shop.executor.run("r").start().unwrap();
    let turn = async |number| {
        let call = Call::new("order", r#"{"article":"gold","count":1}"#);
        let outcomes = run.submit_turn(number, &[call]).await;
        answered(outcomes.into_iter().next().unwrap())
    };
    let refused = turn(1).await;
    assert_eq!(kind(&refused), "invalid_input");
    supplier.0.lock().unwrap().insert("gold".to_owned());
    let again = turn(1).await;
    assert_eq!((kind(&again), again.text()), (kind(&refused), refused.text()));
    assert_eq!(shop.asked.load(Ordering::SeqCst), 0);
    let listed = shop.store.list(&Filter::default(), Page::first(2)).await.unwrap();
    let [record] = &*listed.calls else { panic!("one call") };
    assert_eq!(record.state, State::Refused);
    assert_eq!(turn(2).await.text(), "ordered 1 gold", "another turn is another call");
}

#[tokio::test]
async fn input_that_the_schema_refuses_never_reaches_the_rule() {
    let shop = shop(&Supplier::with("tea"), || ());
    let refused = shop.executor.call(&Call::new("order", r#"{"article":"odd"}"#)).await;
    assert!(refused.error().unwrap().message().contains("/count: missing"), "{}", refused.text());
}

#[tokio::test]
async fn a_call_that_became_wrong_while_a_person_decided_does_not_run() {
    let supplier = Supplier::with("tea");
    let sold = supplier.clone();
    let shop = shop(&supplier, move || sold.0.lock().unwrap().clear());
    let outcome = shop.executor.submit(&Call::new("order", r#"{"article":"tea","count":1}"#)).await;
    let answer = answered(outcome);
    assert_eq!(answer.error().unwrap().message(), "the supplier has no `tea`");
    assert_eq!(shop.asked.load(Ordering::SeqCst), 1);
    let listed = shop.store.list(&Filter::default(), Page::first(1)).await.unwrap();
    assert_eq!(listed.calls[0].state, State::Failed, "it is known not to have happened");
}

#[tokio::test]
async fn a_rule_that_panics_or_cannot_look_lets_nothing_through() {
    let shop = shop(&Supplier::with("tea"), || ());
    for (article, expected) in [("odd", "internal_error"), ("gone", "database_gone")] {
        let text = json!({ "article": article, "count": 1 }).to_string();
        let outcome = shop.executor.submit(&Call::new("order", &*text)).await;
        assert_eq!(kind(&answered(outcome)), expected);
    }
    assert_eq!(shop.asked.load(Ordering::SeqCst), 0);
}

/// Counts the calls that get to it.
struct Counting(Arc<AtomicUsize>);

impl Middleware for Counting {
    fn before<'a>(&'a self, _: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        self.0.fetch_add(1, Ordering::SeqCst);
        async { BeforeCall::Continue }.boxed()
    }
}

#[tokio::test]
async fn without_a_journal_the_rule_stands_before_stages_and_tool() {
    let seen = Arc::new(AtomicUsize::new(0));
    let refused = Call::new("price", r#"{"article":"secret"}"#);
    let registry = || Registry::of([PRICE]).unwrap();
    let plain = Executor::builder(registry()).build().unwrap();
    let staged = Executor::builder(registry()).middleware(Counting(Arc::clone(&seen)));
    for executor in [plain, staged.build().unwrap()] {
        assert_eq!(kind(&executor.call(&refused).await), "invalid_input");
        assert!(executor.validate(&refused).await.is_err());
        let call = Call::new("price", r#"{"article":"tea"}"#);
        assert_eq!(executor.call(&call).await.text(), "3");
        assert!(executor.validate(&call).await.is_ok());
    }
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_run_time_tool_has_its_rule_over_a_value() {
    let schema = json!({"type": "object", "properties": {"article": {"type": "string"}}});
    let tool = DynamicTool::new("made_order", "Orders.", schema, |_, _| async { Ok("ordered") })
        .approval("it spends money")
        .validate_by(|input, _| async move {
            match input["article"].as_str() {
                Some("tea") => Ok(()),
                _ => Err(ToolError::invalid("there is none")),
            }
        });
    let registry = Registry::of([tool]).unwrap();
    assert!(registry.get("made_order").unwrap().validates);
    let executor = Executor::builder(registry).build().unwrap();
    let kind_of = async |text: &str| kind(&executor.call(&Call::new("made_order", text)).await);
    assert_eq!(kind_of(r#"{"article":"gold"}"#).await, "invalid_input");
    assert_eq!(kind_of(r#"{"article":"tea"}"#).await, "approval_required");
}
