// The handle is one more constant of the type.
use toolwright::tools;

struct Disk;

#[tools]
impl Disk {
    const MAX_ROWS: usize = 10;

    /// Says how many rows there may be.
    #[tool(effect = read)]
    async fn max_rows(&self) -> usize {
        Self::MAX_ROWS
    }
}

fn main() {}
