// The schema shows the default that a type has, too.
use toolwright::tool;

/// Logs in.
#[tool]
async fn log_in(
    /// The password.
    #[arg(secret, default)]
    password: String,
) {
    let _ = password;
}

fn main() {}
