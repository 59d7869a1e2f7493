// A block is unlinked or it is not.
use toolwright::tools;

struct Clock;

#[tools(unlinked(true))]
impl Clock {
    /// Waits.
    #[tool]
    async fn wait(&self) {}
}

fn main() {}
