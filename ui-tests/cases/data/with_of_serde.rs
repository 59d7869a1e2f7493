mod cents {
    use serde::{Deserialize as _, Deserializer};

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        String::deserialize(from).map(|text| text.len() as u64)
    }
}

#[toolwright::data]
struct Order {
    #[serde(deserialize_with = "cents::deserialize")]
    price: u64,
    #[serde(with = "cents")]
    rebate: u64,
}

fn main() {}
