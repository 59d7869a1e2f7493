// What is registered has no lifetime of the function's: `'_` stands for `'static`.
use toolwright::tool;

struct Cache<'a>(&'a str);

/// Lists files.
#[tool]
async fn list<'a>(cache: &Cache<'a>) -> String {
    cache.0.to_owned()
}

fn main() {}
