// Methods may be conditional, public or not, take nothing, and stand beside what is no tool.
#![deny(warnings, dead_code)]
use toolwright::{Closing, Registry, Resource, ToolError, tools};

pub struct Tickets;

impl Resource for Tickets {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

#[tools(group = "ticket", tags("office"))]
impl Tickets {
    /// Counts.
    #[tool(effect = read)]
    pub async fn count(&self) -> usize {
        Self::helper()
    }

    /// Is never there.
    #[cfg(any())]
    #[tool]
    async fn gone(&self, missing: NoSuchType) {}

    /// Is always there.
    #[cfg(all())]
    #[tool(tags("quick"))]
    async fn there(
        &self,
        /// Which.
        id: u64,
    ) -> u64 {
        id + Self::FIRST
    }

    /// Closes.
    #[tool]
    async fn close_one(&mut self) {}

    /// Has no service.
    #[tool(blocking)]
    fn version() -> &'static str {
        "1"
    }

    const FIRST: u64 = 1;

    fn helper() -> usize {
        2
    }
}

fn main() {
    Registry::of([Tickets::COUNT, Tickets::THERE, Tickets::CLOSE_ONE, Tickets::VERSION])
        .expect("sound tools");
    let linked = Registry::linked().expect("sound tools");
    assert!(linked.get("count").is_some() && linked.get("gone").is_none());
}
