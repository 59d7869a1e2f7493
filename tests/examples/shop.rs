//! A command line with a parameter of every kind, for the tests in `tests/src/cli.rs`.

use std::process::ExitCode;
use std::time::Duration;

use toolwright::{Closing, Output, Resource, ToolError, tool};

/// Where it goes.
#[toolwright::data]
struct Address {
    street: String,
    number: u32,
}

/// How it is wrapped.
#[toolwright::data]
#[serde(rename_all = "snake_case")]
enum Wrapping {
    /// In paper.
    Paper,
    /// Not at all.
    None,
}

/// What was ordered, as it was understood.
#[toolwright::data]
struct Order {
    item: String,
    count: u64,
    express: bool,
    gift: Option<bool>,
    labels: Vec<String>,
    sizes: Vec<f64>,
    address: Option<Address>,
    wrapping: Option<Wrapping>,
    output: Option<String>,
}

/// Place an order. It is sent the same day.
#[tool(group = "order", effect = once, tags("purchase"))]
#[expect(clippy::too_many_arguments, reason = "a parameter of every kind is what is tested")]
async fn place_order(
    /// What to order.
    item: String,
    /// How many.
    #[arg(default = 1, minimum = 1, short, alias = "quantity")]
    count: u64,
    /// Whether it has to be there tomorrow.
    #[arg(default = true)]
    express: bool,
    /// Whether it is a gift; asked at the door when absent.
    gift: Option<bool>,
    /// Words for the parcel.
    #[arg(default = vec![], length = 0..=3)]
    labels: Vec<String>,
    /// Sizes in metres.
    #[arg(default = vec![])]
    sizes: Vec<f64>,
    /// Where to send it.
    address: Option<Address>,
    /// How to wrap it.
    wrapping: Option<Wrapping>,
    /// Where the bill goes.
    output: Option<String>,
) -> Order {
    Order { item, count, express, gift, labels, sizes, address, wrapping, output }
}

/// Pay for an order.
#[tool(group = "order", effect = keyed, danger = dangerous)]
async fn pay_order(
    /// The card's number.
    #[arg(secret)]
    card: String,
) -> String {
    format!("paid with a card of {} digits", card.len())
}

/// Cancel every order.
#[tool(group = "order", danger = critical, approval = "nothing brings them back")]
async fn cancel_order() {
    eprintln!("every order is cancelled");
}

/// Which order.
#[toolwright::data]
struct Query {
    /// A part of its name.
    text: String,
    /// The most to find.
    #[serde(default)]
    limit: u32,
}

/// Find orders.
#[tool(group = "order", effect = read)]
async fn find_order(#[input] query: Query) -> Output {
    Output::text(format!("nothing like `{}` among {}", query.text, query.limit))
}

/// Read a note.
#[tool(group = "membot", effect = read)]
async fn membot_read(
    /// Which note.
    path: String,
    /// The first line.
    #[arg(default = 0)]
    offset: u64,
    /// How many lines.
    limit: Option<u64>,
) -> String {
    format!("{path} {offset} {limit:?}")
}

/// List notes.
#[tool(group = "membot", effect = read)]
async fn membot_tree(
    /// Below what.
    path: String,
    /// How far down.
    max_depth: Option<u64>,
) -> Vec<String> {
    vec![path, format!("{max_depth:?}")]
}

/// Find notes.
#[tool(group = "membot", effect = read)]
async fn membot_search(
    /// What for.
    query: String,
) -> String {
    query
}

/// Held while a call waits.
struct Till;

impl Resource for Till {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

impl Drop for Till {
    fn drop(&mut self) {
        eprintln!("the till is let go");
    }
}

/// Wait for a customer.
#[tool(timeout = none)]
async fn wait(till: &mut Till) {
    let _ = till;
    eprintln!("waiting");
    std::future::pending().await
}

/// Stand in the way.
#[tool(timeout = none)]
async fn stall() {
    eprintln!("waiting");
    std::thread::sleep(Duration::from_secs(60));
}

fn main() -> ExitCode {
    let run = || {
        toolwright::cli::main_with(|builder| {
            let builder = builder.unrestricted();
            // Two mistakes of newcomers, for the tests of what they are answered with.
            match std::env::var_os("SHOP_WITHOUT_TILL") {
                Some(_) => builder,
                None => builder.resource(|_| async { Ok(Till) }),
            }
        })
    };
    if std::env::var_os("SHOP_IN_A_RUNTIME").is_some() {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
        return runtime.block_on(async { run() });
    }
    run()
}
