// The type of a whole input cannot say which of its fields leaves the machine.

/// A mail.
#[toolwright::data]
struct Mail {
    /// To whom.
    to: String,
}

/// Sends a mail.
#[toolwright::tool]
async fn send_mail(
    #[input]
    #[arg(sink)]
    mail: Mail,
) {
}

fn main() {}
