// Two tools have two names.
use toolwright::tools;

struct Disk;

#[tools]
impl Disk {
    /// Syncs.
    #[tool]
    async fn sync(&self) {}

    /// Syncs all.
    #[tool(name = "sync")]
    async fn sync_all(&self) {}
}

fn main() {}
