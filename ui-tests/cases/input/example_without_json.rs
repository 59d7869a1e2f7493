// An example is shown to the model, so it has a JSON form.
use toolwright::tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Mode {}

/// Reads a file.
#[tool]
async fn read_file(
    /// How.
    #[arg(example = Mode {})]
    mode: Mode,
) {
    let _ = mode;
}

fn main() {}
