// The schema shows examples to the model.
use toolwright::tool;

/// Logs in.
#[tool]
async fn log_in(
    /// The password.
    #[arg(secret, example = "hunter2")]
    password: Option<String>,
) {
    let _ = password;
}

fn main() {}
