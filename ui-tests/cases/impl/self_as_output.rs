// `Self` has no meaning where the tool's output is described.
use toolwright::{data, tools};

#[data]
struct Clock;

#[tools]
impl Clock {
    /// Waits.
    #[tool]
    async fn wait() -> Self {
        Self
    }
}

fn main() {}
