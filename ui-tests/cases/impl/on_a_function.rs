// A function takes the other attribute.
use toolwright::tools;

/// Waits.
#[tools]
async fn wait(
    /// How long.
    #[arg(minimum = 1)]
    seconds: u32,
) {
    let _ = seconds;
}

fn main() {}
