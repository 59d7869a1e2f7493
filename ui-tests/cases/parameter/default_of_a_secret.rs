// The schema shows defaults to the model.
use toolwright::tool;

/// Logs in.
#[tool]
async fn log_in(
    /// The password.
    #[arg(secret, default = "hunter2")]
    password: String,
) {
    let _ = password;
}

fn main() {}
