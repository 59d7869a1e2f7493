// A type is a kind of resource by its trait, also without a name after it.
use toolwright::tool;

struct Ticket;

/// Closes all tickets.
#[tool(writes(Ticket))]
async fn close_all() {}

fn main() {}
