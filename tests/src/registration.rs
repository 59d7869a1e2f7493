//! Tools are registered by their constants or because they are linked, and no two have one name.

use toolwright::{Handle, Registry, RegistryProblem, tool};

use crate::functions::ADD_NUMBERS;
use crate::support::{NEVER_ENDS, PING};

mod first {
    /// One twin.
    #[toolwright::tool(name = "twin")]
    pub async fn one() {}
}

mod second {
    /// The other twin.
    #[toolwright::tool(name = "twin")]
    pub async fn other() {}
}

/// S2.29: a function tool is a value, which can be named, kept and registered.
/// S2.30: annotating a function makes one; nothing is constructed.
/// S3.1: the attribute is what creates a tool, from whatever fields it has.
/// S2.55: it stands on its own, without a type to inherit from or a trait to implement.
#[test]
fn a_tool_is_a_constant_that_is_there_before_the_program_runs() {
    const TOOLS: [Handle; 2] = [PING, ADD_NUMBERS];
    static KEPT: &[Handle] = &TOOLS;
    let names: Vec<&str> = KEPT.iter().map(Handle::name).collect();
    assert_eq!(names, ["ping", "add_numbers"]);
    assert!(PING.location().file.ends_with("support.rs"));
}

/// S2.57: a registry finds a tool by its name and lists them all.
#[test]
fn a_registry_finds_and_lists_exactly_the_tools_it_was_given() {
    let registry = Registry::of([PING, NEVER_ENDS]).unwrap();
    assert!(registry.get("ping").is_some() && registry.get("add_numbers").is_none());
    let catalog = registry.catalog();
    let names: Vec<&str> = catalog.names().collect();
    assert_eq!(names, ["ping", "never_ends"]);
    assert_eq!(Registry::empty().definitions().count(), 0);
}

#[test]
fn two_tools_of_one_name_are_an_error_that_tells_both_places() {
    let error = Registry::of([first::ONE, PING, second::OTHER]).unwrap_err();
    let [RegistryProblem::Duplicate { name, first, second }] = error.problems.as_slice() else {
        panic!("{error}")
    };
    assert_eq!(name, "twin");
    assert!(first.line < second.line);
    assert_eq!(first.file, second.file);
    let words = error.to_string();
    assert!(words.contains(&first.to_string()) && words.contains(&second.to_string()));
}

/// S3.49: ids are namespaced, so an action of one name in two namespaces is two tools.
#[test]
fn a_namespace_keeps_equal_actions_apart() {
    let registry = Registry::of([CREATE_NOTE, CREATE_TICKET]).unwrap();
    assert!(registry.get("note.create").is_some() && registry.get("ticket.create").is_some());
    assert!(registry.get("create").is_none());
}

/// Creates a note.
#[tool(name = "note.create")]
async fn create_note() {}

/// Creates a ticket.
#[tool(name = "ticket.create")]
async fn create_ticket() {}

#[test]
fn whatever_is_linked_is_collected_with_all_its_problems_at_once() {
    let error = Registry::linked().unwrap_err();
    let mut problems: Vec<&str> = error
        .problems
        .iter()
        .map(|problem| match problem {
            RegistryProblem::Duplicate { name, .. } | RegistryProblem::Schema { name, .. } => {
                name.as_str()
            }
            other => panic!("{other}"),
        })
        .collect();
    problems.sort_unstable();
    let wrong_schemas = [
        crate::types::wrong::tools(),
        crate::types::defaults::WRONG.to_vec(),
        crate::types::os_text::WRONG.to_vec(),
    ]
    .concat();
    assert!(wrong_schemas.iter().all(|tool| problems.contains(&tool.name())));
    problems.retain(|name| wrong_schemas.iter().all(|tool| tool.name() != *name));
    // What no schema can say, of other tests.
    problems.retain(|name| !name.starts_with("unseen_"));
    // Twins, and later versions of tools for tests of what a tool that changed does to its calls.
    let expected =
        ["found_again", "kept_charge", "kept_refund", "kept_refund", "take_list", "twin", "which"];
    assert_eq!(problems, expected);
}
