// An answer outlives the call, also that of a method.
use toolwright::tools;

struct Db(String);
struct Row<'a>(&'a str);

#[tools]
impl Db {
    /// Finds a row.
    #[tool(effect = read)]
    async fn find(&self) -> Option<Row<'_>> {
        Some(Row(&self.0))
    }
}

fn main() {}
