// The same where the tool borrows and takes input.
use std::cell::Cell;
use toolwright::tool;

struct Clock;

/// Waits.
#[tool]
async fn wait(
    clock: &Clock,
    /// How long.
    seconds: u32,
) -> u32 {
    let _ = clock;
    let count = Cell::new(seconds);
    let counted = &count;
    std::future::ready(()).await;
    counted.get()
}

fn main() {}
