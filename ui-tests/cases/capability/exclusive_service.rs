// `&mut` asks for a resource that is opened for each call.
use toolwright::tool;

struct Cache;

/// Lists files.
#[tool]
async fn list(cache: &mut Cache) {
    let _ = cache;
}

fn main() {}
