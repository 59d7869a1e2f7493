// A model knows of a parameter what its doc comment says.
use toolwright::tool;

/// Waits.
#[tool]
async fn wait(seconds: u32) {
    let _ = seconds;
}

fn main() {}
