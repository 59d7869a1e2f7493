// Options stand in parentheses, on a method, too.
use toolwright::tools;

struct Clock;

#[tools]
impl Clock {
    /// Waits.
    #[tool = "wait"]
    async fn wait(&self) {}
}

fn main() {}
