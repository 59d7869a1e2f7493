//! `delete_account` deletes a customer's account. It adds a line to the ledger, once; a person is asked first.

use toolwright::{OrFail as _, ToolError, tool};

use crate::ledger::Ledger;

/// Delete the account of a customer, with everything in it.
#[tool(approval = "nobody can bring the account back", danger = critical, effect = once)]
pub async fn delete_account(
    ledger: &Ledger,
    /// Whose account.
    account: String,
) -> Result<String, ToolError> {
    ledger
        .add(&format!("delete {account}"))
        .or_fail("ledger_failed", "the ledger could not be written")?;
    Ok(format!("deleted the account of {account}"))
}
