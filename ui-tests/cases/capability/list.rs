// A capability stands alone, also where several are wanted.
use toolwright::tool;

struct Db;

/// Finds a row.
#[tool(effect = read)]
async fn find(dbs: Vec<&'static Db>) -> usize {
    dbs.len()
}

fn main() {}
