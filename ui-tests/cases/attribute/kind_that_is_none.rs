// A type is a kind of resource by its trait.
use toolwright::tool;

struct Ticket;

/// Reads a ticket.
#[tool(reads(Ticket = number))]
async fn read_ticket(
    /// Which ticket.
    number: u64,
) {
    let _ = number;
}

fn main() {}
