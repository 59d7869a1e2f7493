// Data is a struct or an enum.
use toolwright::data;

#[data]
fn options() {}

fn main() {}
