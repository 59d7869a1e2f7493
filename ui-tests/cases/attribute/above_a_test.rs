use toolwright::tool;

/// Lists orders.
#[tool(effect = read)]
#[tokio::test]
async fn list() {}

fn main() {}
