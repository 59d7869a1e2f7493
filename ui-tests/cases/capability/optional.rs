// A capability stands alone: the runtime hands in `&T`, and nothing around it.
use toolwright::tool;

struct Db;

/// Finds a row.
#[tool(effect = read)]
async fn find(db: Option<&Db>) -> bool {
    db.is_some()
}

fn main() {}
