// A switch is written alone, or with `true` or `false`.
use toolwright::tool;

/// Renders the film.
#[tool(external, background = "true")]
async fn render();

fn main() {}
