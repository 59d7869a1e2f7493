// A run does not end by the result of a call beside which it goes on.
use toolwright::tool;

/// Renders the film.
#[tool(external, background, terminal)]
async fn render();

fn main() {}
