//! `refund` pays money back. It adds a line to the ledger, once. A person is asked first and shown what would be
//! paid. For an order that does not exist, the tool refuses the call before a person is asked.

use toolwright::{OrFail as _, ToolError, tool};

use super::look_up_order;
use crate::ledger::Ledger;
use crate::pace::Pace;

/// Pay money back for an order.
#[tool(
    approval = "it pays money out", danger = dangerous, effect = once,
    validate = |order| match look_up_order::found(&order) {
        Ok(_) => Ok(()),
        Err(error) => Err(ToolError::invalid(error.message().to_owned()).hint("look the order up first")),
    },
    preview = |order, cents| format!("pays {} back for order {order}", euros(cents))
)]
pub async fn refund(
    ledger: &Ledger,
    pace: &Pace,
    /// The order's number.
    order: String,
    /// How much, in cents.
    #[arg(minimum = 1)]
    cents: u64,
) -> Result<String, ToolError> {
    pace.pause("refund runs, nothing is paid yet").await;
    ledger
        .add(&format!("refund {order} {cents}"))
        .or_fail("ledger_failed", "the ledger could not be written")?;
    pace.pause("refund has paid, nothing is recorded yet").await;
    Ok(format!("refunded {} for order {order}", euros(cents)))
}

fn euros(cents: u64) -> String {
    format!("{}.{:02} EUR", cents / 100, cents % 100)
}
