//! The command lines of one application, for the tests in `tests/src/typed.rs`: `ENTRY` says how it begins.

use std::process::ExitCode;

use toolwright::approval::{Callback, Response};
use toolwright::{cli, tool};

/// Count what is on a shelf.
#[tool(effect = read, reads())]
async fn count(
    /// Which.
    shelf: String,
) -> String {
    format!("counted {shelf}")
}

/// Put something on a shelf.
#[tool(effect = once, writes())]
async fn put(
    /// Which.
    shelf: String,
) -> String {
    format!("put on {shelf}")
}

/// Clear a shelf.
#[tool(effect = once, danger = critical, writes())]
async fn clear(
    /// Which.
    shelf: String,
) -> String {
    format!("cleared {shelf}")
}

/// Burn a shelf.
#[tool(effect = once, approval = "nothing brings it back", writes())]
async fn burn(
    /// Which.
    shelf: String,
) -> String {
    format!("burnt {shelf}")
}

fn main() -> ExitCode {
    let approver = Callback::new(|request| match request.tool.as_str() {
        "clear" => Response::Approve,
        _ => Response::Reject { reason: Some("not today".to_owned()) },
    });
    match std::env::var("ENTRY").as_deref() {
        Ok("main") => cli::main(),
        Ok("main_with") => cli::main_with(|builder| builder),
        Ok("asked") => cli::main_with(|builder| builder.ask(approver)),
        _ => panic!("set ENTRY"),
    }
}
