use toolwright::tool;

/// Lists orders.
#[tokio::main]
#[tool(effect = read)]
async fn main() {}
