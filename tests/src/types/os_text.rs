//! A type that holds the text of an operating system makes no registry: its JSON is a list of bytes.

use std::ffi::OsString;

use toolwright::{Handle, Registry, data, tool};

/// What the macro cannot see.
type Name = OsString;

#[data]
pub struct Entry {
    /// Who may read it.
    readers: Vec<Option<OsString>>,
}

/// Takes it by an alias.
#[tool(effect = read)]
async fn os_text_by_alias(
    /// A name.
    name: Option<Name>,
) {
    let _ = name;
}

/// Takes it in a type.
#[tool(effect = read)]
async fn os_text_in_a_type(
    /// An entry.
    entry: Entry,
) {
    let _ = entry.readers;
}

/// Takes it as a part of the whole input.
#[tool(effect = read)]
async fn os_text_in_the_input(#[input] entry: Entry) {
    let _ = entry.readers;
}

/// Gives it back.
#[tool(effect = read)]
async fn os_text_in_the_answer() -> Name {
    Name::new()
}

/// A choice of these names is no text of an operating system.
#[data]
pub enum System {
    Unix(Vec<u8>),
    Windows(Vec<u16>),
}

/// Takes a system.
#[tool(effect = read)]
async fn system(
    /// Which.
    system: System,
) {
    let _ = system;
}

/// The tools that no registry takes.
pub const WRONG: &[Handle] =
    &[OS_TEXT_BY_ALIAS, OS_TEXT_IN_A_TYPE, OS_TEXT_IN_THE_INPUT, OS_TEXT_IN_THE_ANSWER];

#[test]
fn the_text_of_an_operating_system_is_refused_by_its_place() {
    let refused = |handle: Handle| Registry::of([handle]).unwrap_err().to_string();
    let advice = "an `OsString` is a list of bytes in JSON; take a `PathBuf` for a path, a `String` for text";
    for (handle, place) in [
        (OS_TEXT_BY_ALIAS, "/properties/name/anyOf/0: "),
        (OS_TEXT_IN_A_TYPE, "/properties/entry/properties/readers/items/anyOf/0: "),
        (OS_TEXT_IN_THE_INPUT, "/properties/readers/items/anyOf/0: "),
        (OS_TEXT_IN_THE_ANSWER, "of the output: "),
    ] {
        let words = refused(handle);
        assert!(words.contains(&format!("{place}{advice}")), "{words}");
    }
    Registry::of([SYSTEM]).unwrap();
}
