// A default is shown to the model, so it has a JSON form, also when it is the type's own.
use toolwright::tool;

#[derive(Default, serde::Deserialize, schemars::JsonSchema)]
struct Mode {}

/// Reads a file.
#[tool]
async fn read_file(
    /// How.
    #[arg(default)]
    mode: Mode,
) {
    let _ = mode;
}

fn main() {}
