//! `look_up_order` reads an order. It changes nothing, so it needs no approval and no entry in the journal.

use toolwright::{ToolError, tool};

/// An order of the shop.
#[toolwright::data]
pub struct Order {
    /// Its number.
    order: String,
    /// What was bought.
    item: String,
    /// What was paid, in cents.
    cents: u64,
    /// Whose it is.
    account: String,
}

/// Returns the order, or an error if it does not exist.
pub(super) fn found(order: &str) -> Result<Order, ToolError> {
    if order != "A-1001" {
        return Err(ToolError::new("no_such_order", format!("there is no order `{order}`")));
    }
    let (item, account) = ("a kettle".to_owned(), "bob".to_owned());
    Ok(Order { order: order.to_owned(), item, cents: 4200, account })
}

/// Look up an order by its number.
#[tool(effect = read)]
pub async fn look_up_order(
    /// The order's number.
    order: String,
) -> Result<Order, ToolError> {
    found(&order)
}
