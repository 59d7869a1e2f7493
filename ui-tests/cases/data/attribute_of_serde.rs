// One mistake stays one: what belongs to serde is not reported beside it.
#[toolwright::data(crat = toolwright)]
struct Query {
    /// What to look for.
    #[serde(rename = "q")]
    text: String,
}

fn main() {}
