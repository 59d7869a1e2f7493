// A call that is carried out elsewhere borrows no `self`.
use toolwright::tools;

struct Page;

#[tools]
impl Page {
    /// Lets the visitor pick a colour.
    #[tool(external)]
    async fn pick(&self) -> String;
}

fn main() {}
