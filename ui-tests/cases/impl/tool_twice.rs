// A method is one tool.
use toolwright::tools;

struct Clock;

#[tools]
impl Clock {
    /// Waits.
    #[tool]
    #[tool(effect = read)]
    async fn wait(&self) {}
}

fn main() {}
