//! Tools that stop half-way, and somebody who is killed while they do.

use std::sync::Arc;

use toolwright::policy::{Mode, Policy, Protection, Rule};
use toolwright::{Call, CallId, Executor, ExecutorBuilder, Reconciled, Registry, tool};

use super::super::support::{Office, Ran};

/// Never ends, may be repeated, and asks.
#[tool(name = "found_stuck", effect = idempotent, approval = "it takes long")]
async fn stuck(ran: &Ran) {
    ran.add("stuck");
    crate::support::forever().await
}

/// Never ends, and asks.
#[tool(name = "found_stuck_once", approval = "it takes long")]
async fn stuck_once(ran: &Ran) {
    ran.add("stuck once");
    crate::support::forever().await
}

/// Never ends, and knows that it never happens.
#[tool(name = "found_in_vain", reconcile = never)]
async fn in_vain(ran: &Ran) {
    ran.add("in vain");
    crate::support::forever().await
}

async fn never(_ran: &Ran) -> Reconciled {
    Reconciled::DidNotHappen
}

/// Asks about large sums alone.
#[tool(name = "found_pay", approval = large(cents))]
async fn pay(
    ran: &Ran,
    /// How much.
    cents: u64,
) {
    ran.add(format!("pay {cents}"));
}

fn large(cents: u64) -> Option<String> {
    (cents > 100).then(|| "it is much".to_owned())
}

/// Breaks.
#[tool(name = "found_breaks")]
async fn breaks(ran: &Ran) {
    ran.add("breaks");
    panic!("broken")
}

/// The tool `found_again`, which may be repeated.
mod before {
    use super::Ran;
    use toolwright::tool;

    /// Never ends.
    #[tool(name = "found_again", effect = idempotent)]
    pub async fn again(ran: &Ran) {
        ran.add("again");
        crate::support::forever().await
    }
}

/// The same of a later version, which must not.
mod after {
    use super::Ran;
    use toolwright::tool;

    /// Ends at last.
    #[tool(name = "found_again")]
    pub async fn again(ran: &Ran) {
        ran.add("again, once");
    }
}

pub fn builder(office: &Office) -> ExecutorBuilder {
    registered(office, all()).unrestricted()
}

fn all() -> Registry {
    Registry::of([STUCK, STUCK_ONCE, IN_VAIN, PAY, BREAKS, before::AGAIN]).unwrap()
}

/// Where nothing is begun again.
pub fn refusing(office: &Office) -> Executor {
    let rule = Rule::deny("not today").named("today").tool("found_again");
    let open = Policy::builder().mode(Mode::Unrestricted).without(Protection::ALL);
    registered(office, all()).policy(open.rule(rule)).build().unwrap()
}

pub fn later(office: &Office) -> Executor {
    registered(office, Registry::of([after::AGAIN]).unwrap()).unrestricted().build().unwrap()
}

fn registered(office: &Office, registry: Registry) -> ExecutorBuilder {
    Executor::builder(registry).service_arc(Arc::clone(&office.ran)).journal(office.parking())
}

pub fn executor(office: &Office) -> Executor {
    builder(office).build().unwrap()
}

/// Does something of this executor until one more body has begun, and is never heard of again.
pub fn killed<F: Future>(office: &Office, what: impl FnOnce() -> F + Send + 'static) {
    let (ran, before) = (Arc::clone(&office.ran), office.ran.times());
    let killed = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // What is dropped would still say so, on a runtime that is never polled again.
        runtime.block_on(async {
            tokio::select! {
                biased;
                _ = what() => unreachable!(),
                () = async { while ran.times() == before { tokio::task::yield_now().await } } => {}
            }
        });
    });
    killed.join().unwrap();
}

/// Of this tool, made by somebody who is killed while it runs.
pub async fn begun(office: &Office, tool: &'static str) -> CallId {
    let made = executor(office);
    killed(office, move || async move { made.submit(&Call::new(tool, "{}")).await });
    office.records().await[0].id
}
