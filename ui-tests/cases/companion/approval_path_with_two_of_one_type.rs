// A path hides which parameter it takes for which.
use toolwright::tool;

async fn reason(to: String, from: String) -> Option<String> {
    (from != to).then_some(from)
}

/// Moves a file.
#[tool(approval = reason)]
async fn move_file(
    /// From where.
    from: String,
    /// To where.
    to: String,
) {
    let _ = (from, to);
}

fn main() {}
