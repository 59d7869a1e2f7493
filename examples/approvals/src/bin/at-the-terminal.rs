//! A command line with calls that a person approves at the same terminal.
//!
//! `at-the-terminal send-voucher bob@example.org --cents 500` asks before it sends; `at-the-terminal` in the folder of this
//! crate plays a person who answers.

use std::process::ExitCode;

use toolwright::tool;

fn main() -> ExitCode {
    toolwright::cli::main_with(|builder| builder)
}

/// Send a voucher to a customer.
#[tool(effect = once, writes())]
async fn send_voucher(
    /// The customer's address.
    to: String,
    /// What it is worth.
    #[arg(default = 500, minimum = 1, maximum = 10_000)]
    cents: u32,
) -> String {
    format!("sent a voucher of {cents} cents to {to}")
}

/// Close a customer's account.
#[tool(effect = once, danger = dangerous, writes())]
async fn close_account(
    /// Whose.
    account: String,
) -> String {
    format!("closed the account {account}")
}
