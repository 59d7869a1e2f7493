// Only a call that is carried out elsewhere goes on in the background.
use toolwright::tool;

/// Renders the film.
#[tool(background = true)]
async fn render() {}

fn main() {}
