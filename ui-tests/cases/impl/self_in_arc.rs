// A service is borrowed, however it is kept.
use std::sync::Arc;
use toolwright::tools;

struct Clock;

#[tools]
impl Clock {
    /// Waits.
    #[tool]
    async fn wait(self: Arc<Self>) {}
}

fn main() {}
