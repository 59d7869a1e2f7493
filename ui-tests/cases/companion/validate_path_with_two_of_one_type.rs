// A path hides which parameter is which, so the rule could look at one for the other.
use toolwright::{ToolError, tool};

async fn may_pay(from: String, to: String) -> Result<(), ToolError> {
    let _ = (from, to);
    Ok(())
}

/// Pays.
#[tool(validate = may_pay)]
async fn pay(
    /// Who pays.
    from: String,
    /// Who is paid.
    to: String,
) {
    let _ = (from, to);
}

fn main() {}
