//! `send_parcel` hands a parcel to a carrier, whose server fails in several ways. The executor retries a call where
//! that is safe, with the same idempotency key. Any other failure becomes a dead letter.

use toolwright::{ErrorClass, OrFail as _, ToolContext, ToolError, tool};

use crate::carrier::{Carrier, Reply};
use crate::ledger::Ledger;

/// The weight in grams above which a person has to approve the parcel.
const HEAVY: u32 = 10_000;

/// Send the parcel of an order.
#[tool(
    danger = moderate,
    effect = keyed,
    retry(attempts = 3, delay = "100ms"),
    approval = (grams > HEAVY).then(|| format!("{grams} g is a heavy parcel"))
)]
pub async fn send_parcel(
    carrier: &Carrier,
    ledger: &Ledger,
    context: &ToolContext,
    /// The order's number.
    order: String,
    /// Where it goes.
    country: String,
    /// What it weighs, in grams.
    grams: u32,
) -> Result<String, ToolError> {
    match carrier.send(&order, &country) {
        Reply::Taken => {}
        Reply::Busy(time) => {
            return Err(ToolError::new("carrier_busy", "the carrier is busy")
                .class(ErrorClass::NotStarted { retry_after: Some(time) }));
        }
        Reply::Lost => {
            return Err(ToolError::new(
                "connection_lost",
                "the connection to the carrier was lost",
            )
            .class(ErrorClass::Transient));
        }
        Reply::NoSuchCountry => {
            return Err(ToolError::new("no_such_country", "the carrier does not go there")
                .hint("ask the customer for another address"));
        }
    }
    let postage = postage(&order, grams);
    let line = format!("parcel {order} {country} {grams} {}", context.idempotency_key());
    ledger.add(&line).or_fail("ledger_failed", "the ledger could not be written")?;
    Ok(format!("the parcel of order {order} is on its way, for {postage} cents"))
}

/// Returns the postage in cents. Panics for order A-2003, whose weight is wrong: this demonstrates a defect of a tool.
fn postage(order: &str, grams: u32) -> u32 {
    let known = if order == "A-2003" { grams.checked_sub(1_000) } else { Some(grams) };
    known.expect("a parcel weighs more than its box") / 10
}
