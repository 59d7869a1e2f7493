// A rule gives `Ok(())` or the error for which the call is refused, and no `bool`.
use toolwright::tool;

/// Orders.
#[tool(validate = |article| article == "tea")]
async fn order(
    /// What.
    article: String,
) {
    let _ = article;
}

fn main() {}
