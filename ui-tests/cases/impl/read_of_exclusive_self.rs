// A tool whose effect is `read` does not ask for its service alone.
use toolwright::{Closing, Resource, ToolError, tools};

struct Clock;

impl Resource for Clock {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

#[tools]
impl Clock {
    /// Waits.
    #[tool(effect = read)]
    async fn wait(&mut self) {}
}

fn main() {}
