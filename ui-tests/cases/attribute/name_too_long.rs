// No provider takes more than 64 characters.
use toolwright::tool;

/// Reads a file.
#[tool(name = "read_the_file_that_lies_in_the_folder_below_the_root_of_the_workspace")]
async fn read_file() {}

fn main() {}
