// `Self` in an option is the type of the `impl` block.
use toolwright::tools;

struct Clock;

#[tools]
impl Clock {
    /// Waits.
    #[tool(danger = Self::grade())]
    async fn wait(&self) {}
}

fn main() {}
