// Two methods have two names.
use toolwright::tools;

struct Disk;

#[tools]
impl Disk {
    /// Syncs.
    #[tool]
    async fn sync(&self) {}

    /// Syncs one file.
    #[tool]
    async fn sync(&self, /** Which. */ _path: String) {}
}

fn main() {}
