// A lifetime that is left out is rustc's to ask for.
use toolwright::tool;

struct Db<'a>(&'a str);

/// Finds a row.
#[tool(effect = read)]
async fn find(db: &Db) -> String {
    db.0.to_owned()
}

fn main() {}
