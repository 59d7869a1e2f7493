// Input and answers own their data, also a choice of them.
#[toolwright::data]
enum Query<'a> {
    All,
    One(#[serde(borrow)] std::borrow::Cow<'a, str>),
}

fn main() {}
