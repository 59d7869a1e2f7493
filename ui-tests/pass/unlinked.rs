// An unlinked tool has a handle and no registration; a block and a method of it may both say so.
#![deny(warnings, dead_code)]
use toolwright::{Handle, Registry, tool, tools};

/// Waits.
#[tool(unlinked)]
pub async fn wait() {}

pub struct Clock;

#[tools(group = "clock", unlinked)]
impl Clock {
    /// Counts.
    #[tool(effect = read)]
    pub async fn count(&self) -> usize {
        0
    }

    /// Stops.
    #[tool(unlinked)]
    pub async fn stop(&self) {}
}

pub const TOOLS: [Handle; 3] = [WAIT, Clock::COUNT, Clock::STOP];

fn main() {
    assert_eq!(Registry::linked().unwrap().definitions().count(), 0);
    assert_eq!(Registry::of(TOOLS).unwrap().definitions().count(), 3);
}
