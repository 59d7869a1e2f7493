//! Tools, approvers and shortcuts of the hostile tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use futures::future::BoxFuture;
use toolwright::approval::{ApprovalRequest, Approver, ApproverError, Reply, Response};
use toolwright::{
    Call, CallId, ErrorClass, Executor, ExecutorBuilder, Reconciled, Registry, ToolContext,
    ToolError, tool,
};

use super::super::support::{Office, Ran};

/// Charges a card; whoever takes the key charges once.
#[tool(name = "kept_charge", effect = keyed)]
pub async fn charge(ran: &Ran, context: &ToolContext) {
    ran.add(format!("charge {}", context.idempotency_key()));
    crate::support::forever().await
}

pub mod later {
    use super::*;

    /// Pays somebody back, and tells them.
    #[tool(name = "kept_refund", approval = "it sends money")]
    pub async fn refund(
        ran: &Ran,
        /// Which order.
        order: String,
        /// How much, in cents.
        #[arg(default = 100)]
        cents: u64,
    ) {
        ran.add(format!("later refund {order} {cents}"));
    }

    /// Charges a card, and says so in other words; whoever takes the key charges once.
    #[tool(name = "kept_charge", effect = keyed)]
    pub async fn charge(ran: &Ran, context: &ToolContext) {
        ran.add(format!("charge {}", context.idempotency_key()));
    }
}

/// Logs in with a secret, without asking anybody.
#[tool(name = "kept_login")]
pub async fn login(
    ran: &Ran,
    /// A number of four digits.
    #[arg(secret)]
    pin: String,
) -> Result<String, ToolError> {
    ran.add("login");
    match pin.as_str() {
        "9999" => Err(ToolError::new("wrong_pin", format!("{pin} is not the pin"))),
        _ => Ok(format!("in with {pin}")),
    }
}

/// Looks after a secret for ever, and may be repeated.
#[tool(name = "kept_guard", effect = idempotent)]
pub async fn guard(
    ran: &Ran,
    /// A number of four digits.
    #[arg(secret)]
    pin: String,
) {
    ran.add(format!("guard {}", pin.len()));
    crate::support::forever().await
}

/// Unlocks something, and says too much about why it asks.
#[tool(name = "kept_unlock", approval = reason_of(&pin))]
pub async fn unlock(
    ran: &Ran,
    /// A number of four digits.
    #[arg(secret)]
    pin: String,
) {
    ran.add(format!("unlock {}", pin.len()));
}

fn reason_of(pin: &str) -> Option<String> {
    Some(format!("it unlocks with {pin}"))
}

/// Gives an error of the kind that it is told to.
#[tool(name = "kept_err")]
pub async fn err(
    ran: &Ran,
    /// Which kind.
    error: String,
) -> Result<String, ToolError> {
    ran.add(format!("err {error}"));
    match error.as_str() {
        "shutting_down" => Err(ToolError::new("shutting_down", "the far server shuts down")
            .class(ErrorClass::NotStarted { retry_after: None })),
        kind => Err(ToolError::new(kind.to_owned(), "the far server took too long")),
    }
}

/// Waits until it is let go.
#[tool(name = "kept_slow", approval = "it is slow")]
pub async fn slow(ran: &Ran, gate: &tokio::sync::Notify) -> String {
    ran.add("slow");
    gate.notified().await;
    "done".to_owned()
}

/// Ships something for ever; whoever asks what became of it hears that nothing did, or nothing at all.
#[tool(name = "kept_send", approval = "it sends", reconcile = find_sent)]
pub async fn send(
    ran: &Ran,
    /// What.
    what: String,
) {
    ran.add(format!("send {what}"));
    crate::support::forever().await
}

async fn find_sent(_ran: &Ran, what: String) -> Reconciled {
    assert_ne!(what, "broken", "the search is broken");
    Reconciled::DidNotHappen
}

/// Opens something, shows what, and breaks.
#[tool(name = "kept_open", approval = "it opens", preview = show_open)]
pub async fn open(
    ran: &Ran,
    /// A number of four digits.
    #[arg(secret)]
    pin: String,
) {
    ran.add("open");
    panic!("{pin} broke")
}

async fn show_open(_ran: &Ran, pin: String) -> String {
    format!("opens with {pin}")
}

pub struct Ticket(pub &'static str);

/// Asks, and needs what only a run has.
#[tool(name = "kept_for_run", approval = "it does")]
pub async fn for_run(
    ticket: &Ticket,
    ran: &Ran,
    /// What.
    #[arg(default = 1)]
    what: u8,
) -> String {
    ran.add(format!("for run {what}"));
    ticket.0.to_owned()
}

/// Hangs, and needs what only a run has.
#[tool(name = "kept_hang_for_run")]
pub async fn hang_for_run(ticket: &Ticket, ran: &Ran) {
    ran.add(ticket.0);
    crate::support::forever().await
}

pub fn builder_of(office: &Office, registry: Registry) -> ExecutorBuilder {
    let builder = Executor::builder(registry).unrestricted().service_arc(Arc::clone(&office.ran));
    builder.journal(office.parking())
}

/// Thinks for ever.
pub struct Thinks;

impl Approver for Thinks {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        Box::pin(crate::support::forever())
    }
}

/// Panics before it has given a future.
pub struct Panics;

impl Approver for Panics {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        panic!("no approver today")
    }
}

/// Cannot be reached the first time, and approves the second.
#[derive(Default)]
pub struct Second(pub AtomicUsize);

impl Approver for Second {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        let is_first = self.0.fetch_add(1, SeqCst) == 0;
        Box::pin(async move {
            if is_first {
                return Err(ApproverError::new("the approver is out for lunch"));
            }
            Ok(Reply::Decided(Response::Approve))
        })
    }
}

/// Approves after something else has run.
pub struct After(pub Arc<Ran>);

impl Approver for After {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        Box::pin(async {
            while self.0.times() == 0 {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            Ok(Reply::Decided(Response::Approve))
        })
    }
}

/// Somebody claims a call and is never heard of again.
pub async fn gone(office: &Office, executor: Executor, call: Call<'static>) -> CallId {
    let doing = async move {
        executor.submit(&call).await;
    };
    killed(office, doing);
    office.records().await[0].id
}

/// Does something until one more call has begun, and is never heard of again.
pub fn killed(office: &Office, doing: impl Future<Output = ()> + Send + 'static) {
    let ran = Arc::clone(&office.ran);
    let before = ran.times();
    let killed = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // What a dropped call would still do is left to a runtime that is never polled again.
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = doing => unreachable!(),
                () = async { while ran.times() == before { tokio::task::yield_now().await } } => {}
            }
        });
    });
    killed.join().unwrap();
}
