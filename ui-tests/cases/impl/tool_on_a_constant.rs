// A tool of an `impl` block is a method.
use toolwright::tools;

struct Clock;

#[tools]
impl Clock {
    /// Waits.
    #[tool]
    async fn wait(&self) {}

    #[tool]
    const NAME: &str = "clock";
}

fn main() {}
