// Half a parameter hides neither the block nor its other tools.
use toolwright::tools;

struct Disk;

#[tools]
impl Disk {
    /// Reads.
    #[tool]
    async fn read(&self, path: ) {}

    /// Syncs.
    #[tool]
    async fn sync(&self) {}
}

fn main() {
    let _ = [Disk::SYNC];
}
