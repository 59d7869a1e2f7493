// Two tools of one module have two handles.
use toolwright::tool;

/// Reads a file.
#[tool]
async fn read() {}

/// Reads a file, too.
#[tool(handle = READ)]
async fn read_again() {}

fn main() {}
