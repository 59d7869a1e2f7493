// What the runtime hands in is borrowed; an owned parameter is input, which has no lifetime.
use toolwright::tool;

struct Db<'a>(&'a str);

/// Finds a row.
#[tool(effect = read)]
async fn find(db: Db<'_>) -> String {
    db.0.to_owned()
}

fn main() {}
