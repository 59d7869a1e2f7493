// What a block can say about the registration of its tools is `unlinked`.
use toolwright::tools;

struct Clock;

#[tools(registered = false)]
impl Clock {
    /// Waits.
    #[tool]
    async fn wait(&self) {}
}

fn main() {}
