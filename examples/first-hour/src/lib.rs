//! The tools of a small shop.
use toolwright::{ToolError, tool};

/// Look up what an article costs, in cents.
#[tool(effect = read, reads())]
pub async fn price_of(
    /// The article, such as `tea`.
    article: String,
) -> Result<u32, ToolError> {
    match article.as_str() {
        "tea" => Ok(450),
        "honey" => Ok(700),
        _ => Err(ToolError::new("not_found", format!("the shop has no `{article}`"))),
    }
}

#[tokio::test]
async fn tea_has_a_price() {
    assert_eq!(price_of("tea".into()).await.unwrap(), 450);
}
