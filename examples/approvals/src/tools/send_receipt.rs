//! `send_receipt` sends a mail. The receiver drops a second mail with the same idempotency key, so the call may be
//! repeated after a crash.

use toolwright::{OrFail as _, ToolContext, ToolError, tool};

use crate::ledger::Ledger;

/// Send the receipt of an order by mail.
#[tool(danger = moderate, effect = keyed)]
pub async fn send_receipt(
    ledger: &Ledger,
    context: &ToolContext,
    /// The order's number.
    order: String,
    /// The address to send it to.
    to: String,
) -> Result<String, ToolError> {
    let line = format!("receipt {order} {to} {}", context.idempotency_key());
    ledger.add(&line).or_fail("ledger_failed", "the ledger could not be written")?;
    Ok(format!("sent the receipt of order {order} to {to}"))
}
