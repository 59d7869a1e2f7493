// A declaration cannot run.
use toolwright::tool;

trait Clock {
    /// Waits.
    #[tool]
    async fn wait(
        /// How long.
        #[arg(minimum = 1)]
        seconds: u32,
    );
}

fn main() {}
