// Input may be sent between threads.
use std::rc::Rc;
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read_file(
    /// Which file.
    path: Rc<String>,
) {
    let _ = path;
}

fn main() {}
