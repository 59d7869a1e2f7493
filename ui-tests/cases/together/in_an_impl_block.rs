// The mistakes of a block and of each of its tools are reported in one run.
use toolwright::tools;

struct Disk;

#[tools(grup = "disk")]
impl Disk {
    /// Reads a file.
    #[tool(effect = reed)]
    async fn read_file(&self) {}

    #[tool]
    async fn write_file(&self) {}
}

fn main() {}
