// Input and answers own their data.
#[toolwright::data]
struct Query<'a> {
    /// What to look for.
    #[serde(rename = "q")]
    text: &'a str,
}

fn main() {}
