// `&mut self` asks for a resource that is opened for each call.
use toolwright::tools;

struct Clock;

#[tools]
impl Clock {
    /// Waits.
    #[tool]
    async fn wait(&mut self) {}
}

fn main() {}
