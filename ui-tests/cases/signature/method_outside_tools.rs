// A method becomes a tool through its `impl` block.
use toolwright::tool;

struct Clock;

impl Clock {
    /// Waits.
    #[tool]
    async fn wait(&self) {}
}

fn main() {}
