// A type is a kind of resource by its trait, also where a service could hold resources of it.
use toolwright::tool;

struct Ticket;

struct Desk;

/// Reads a ticket.
#[tool(reads(Ticket = number))]
async fn read_ticket(
    desk: &Desk,
    /// Which ticket.
    number: u64,
) {
    let _ = (desk, number);
}

fn main() {}
