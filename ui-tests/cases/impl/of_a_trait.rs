// Methods of a trait's implementation cannot be registered.
use toolwright::tools;

struct Clock;

trait Wait {
    async fn wait(&self, seconds: u32);
}

#[tools]
impl Wait for Clock {
    /// Waits.
    #[tool]
    async fn wait(
        &self,
        /// How long.
        #[arg(minimum = 1)]
        seconds: u32,
    ) {
        let _ = seconds;
    }
}

fn main() {}
