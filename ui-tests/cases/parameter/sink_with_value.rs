// `sink` is said or left out.
use toolwright::tool;

/// Sends a mail.
#[tool]
async fn send_mail(
    /// To whom.
    #[arg(sink = "network")]
    to: String,
) {
    let _ = to;
}

fn main() {}
