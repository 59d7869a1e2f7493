// A service is shared between calls, so it is `Sync`.
use std::cell::Cell;
use toolwright::tools;

struct Clock(Cell<u32>);

#[tools]
impl Clock {
    /// Waits.
    #[tool(blocking)]
    fn wait(&self) -> u32 {
        self.0.get()
    }
}

fn main() {}
