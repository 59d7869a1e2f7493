// What all tools of a block share is their group, their tags and the runtime's path.
use toolwright::tools;

struct Clock;

#[tools(effect = read)]
impl Clock {
    /// Waits.
    #[tool]
    async fn wait(&self) {}
}

fn main() {}
