use toolwright::tool;

/// Lists orders.
#[tool(read)]
async fn list() {}

/// Deletes orders.
#[tool(effect = once, critical)]
async fn delete() {}

fn main() {}
