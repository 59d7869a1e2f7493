// `sink` is said or left out.

/// Sends a mail.
#[toolwright::tool]
async fn send_mail(
    /// To whom.
    #[arg(sink = "network")]
    to: String,
) {
}

fn main() {}
