// A service outlives the call, so its method borrows it.
use toolwright::tools;

struct Clock;

#[tools]
impl Clock {
    /// Waits.
    #[tool]
    async fn wait(self) {}
}

fn main() {}
