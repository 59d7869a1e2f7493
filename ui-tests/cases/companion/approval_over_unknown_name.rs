// An approval takes parameters by their names, as a preview does.
use toolwright::tool;

/// Removes a file.
#[tool(approval = async |pth| Some(format!("it removes {pth}")))]
async fn remove(
    /// Which file.
    path: String,
) {
    let _ = path;
}

fn main() {}
