// A doc comment that rustc puts together is text.
use toolwright::tool;

const TEXT: &str = "Waits.";

#[doc = TEXT]
#[tool]
async fn wait() {}

fn main() {}
