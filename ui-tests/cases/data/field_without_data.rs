//! A field of a data type is of a type that is data, too.

use toolwright::tool;

struct Address {
    street: String,
}

/// A customer.
#[toolwright::data]
struct Customer {
    name: String,
    address: Address,
}

/// Save a customer.
#[tool(effect = once, writes())]
async fn save(
    /// Who.
    customer: Customer,
) -> String {
    customer.name + &customer.address.street
}

fn main() {}
