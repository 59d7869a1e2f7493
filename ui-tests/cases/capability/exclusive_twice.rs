// A resource is opened once for a call.
use toolwright::{Closing, Resource, ToolError, tool};

struct Tx;

impl Resource for Tx {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

/// Moves a row.
#[tool]
async fn move_row(from: &mut Tx, to: &mut Tx) {
    let _ = (from, to);
}

fn main() {}
