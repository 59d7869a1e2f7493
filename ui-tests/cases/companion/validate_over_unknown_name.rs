// A rule is over the tool's parameters, by their names.
use toolwright::tool;

/// Orders.
#[tool(validate = |artcle| match artcle.as_str() {
    "tea" => Ok(()),
    _ => Err(toolwright::ToolError::invalid("there is none")),
})]
async fn order(
    /// What.
    article: String,
) {
    let _ = article;
}

fn main() {}
