// A service owns its data.
use toolwright::tool;

struct Cache<'a>(&'a str);

/// Lists files.
#[tool]
async fn list<'a>(cache: &Cache<'a>) -> String {
    cache.0.to_owned()
}

fn main() {}
