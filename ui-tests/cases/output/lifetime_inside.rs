// An answer outlives the call.
use std::borrow::Cow;
use toolwright::tool;

struct Cache(String);

/// Lists files.
#[tool]
async fn list<'a>(cache: &'a Cache) -> Cow<'a, str> {
    Cow::Borrowed(&cache.0)
}

fn main() {}
