// A default is shown to the model, so it has a JSON form.
use toolwright::tool;

#[derive(Default, serde::Deserialize, schemars::JsonSchema)]
struct Mode {}

/// Reads a file.
#[tool]
async fn read_file(
    /// How.
    #[arg(default = Mode {})]
    mode: Mode,
) {
    let _ = mode;
}

fn main() {}
