// A method's own resource is opened once, too.
use toolwright::{Closing, Resource, ToolError, tools};

struct Tx;

impl Resource for Tx {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

#[tools]
impl Tx {
    /// Merges.
    #[tool]
    async fn merge(&mut self, other: &mut Tx) {
        let _ = other;
    }
}

fn main() {}
