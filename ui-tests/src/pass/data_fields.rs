// A field of a data type may be of the type itself behind a pointer, private, or no data where it is skipped.
#![deny(warnings, unused, dead_code)]
use std::collections::BTreeMap;

use toolwright::{Registry, tool};

mod names {
    #[toolwright::data]
    pub struct Nickname(pub String);
}

#[toolwright::data]
struct Person {
    name: String,
    nickname: Option<names::Nickname>,
    mother: Option<Box<Self>>,
    children: Vec<Person>,
    notes: BTreeMap<String, Box<Self>>,
    #[serde(skip)]
    cache: Option<std::time::Instant>,
}

/// Count the people of a family.
#[tool(effect = read)]
async fn count_people(
    /// Its head.
    person: Person,
) -> usize {
    let Person { name, nickname, mother, children, notes, cache } = person;
    drop((name, nickname.is_some(), cache));
    1 + usize::from(mother.is_some()) + children.len() + notes.len()
}

pub(super) fn main() {
    assert!(Registry::of([COUNT_PEOPLE]).is_ok());
}
