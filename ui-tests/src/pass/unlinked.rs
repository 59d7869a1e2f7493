// An unlinked tool has a handle and no registration; a block and a method of it may both say so.
#![deny(warnings, dead_code)]
use toolwright::{Handle, Registry, tool, tools};

/// Waits.
#[tool(unlinked)]
pub async fn wait_apart() {}

pub struct Clock;

#[tools(group = "clock", unlinked)]
impl Clock {
    /// Counts.
    #[tool(effect = read)]
    pub async fn count_apart(&self) -> usize {
        0
    }

    /// Stops.
    #[tool(unlinked)]
    pub async fn stop_apart(&self) {}
}

pub const TOOLS: [Handle; 3] = [WAIT_APART, Clock::COUNT_APART, Clock::STOP_APART];

pub(super) fn main() {
    assert!(Handle::linked().all(|linked| TOOLS.iter().all(|tool| tool.name() != linked.name())));
    assert_eq!(Registry::of(TOOLS).unwrap().definitions().count(), 3);
}
