// A service is borrowed for the call.
use toolwright::tool;

struct Cache;

/// Lists files.
#[tool]
async fn list(cache: &'static Cache) {
    let _ = cache;
}

fn main() {}
