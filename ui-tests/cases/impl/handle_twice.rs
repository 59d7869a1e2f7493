// Two tools have two handles.
use toolwright::tools;

struct Disk;

#[tools]
impl Disk {
    /// Syncs.
    #[tool]
    async fn sync(&self) {}

    /// Syncs all.
    #[tool(handle = SYNC)]
    async fn sync_all(&self) {}
}

fn main() {}
