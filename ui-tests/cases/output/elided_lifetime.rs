// An answer outlives the call, also where its lifetime has no name.
use std::borrow::Cow;
use toolwright::tool;

struct Db(String);

/// Finds a row.
#[tool(effect = read)]
async fn find(db: &Db) -> Cow<'_, str> {
    Cow::Borrowed(&db.0)
}

fn main() {}
