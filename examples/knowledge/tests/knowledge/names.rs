//! The names under which the tools are registered.

use toolwright::Handle;
use toolwright_toolbox::{CONTEXT, FILES, LinePatch};

const EDITS: [&str; 5] = ["membot_edit", "skill_edit", "schedule_edit", "task_edit", "prompt_edit"];

/// S0.48
#[test]
fn the_five_edit_tools_have_one_type_of_patch_with_one_description() {
    let registry = knowledge::registry().unwrap();
    let patches: Vec<_> = EDITS
        .iter()
        .map(|name| {
            registry.get(name).unwrap().input_schema["properties"]["patches"]["items"].clone()
        })
        .collect();
    assert!(patches[0].to_string().contains("First line to replace"), "{}", patches[0]);
    assert!(patches.iter().all(|it| *it == patches[0]));
    // The type is the toolbox's own.
    assert_eq!(LinePatch::new(1, 0, "a").end_line, 0);
}

#[test]
fn the_tools_have_the_names_of_the_page_and_no_description_names_one_that_is_not_there() {
    let registry = knowledge::registry().unwrap();
    let catalog = registry.catalog();
    for name in ["read", "write", "edit", "search", "tree", "refresh", "query"] {
        assert!(catalog.get(&format!("membot_{name}")).is_some(), "{name}");
    }
    assert!(catalog.get("search_grep").is_some());
    let absent: Vec<&str> = CONTEXT
        .iter()
        .chain(&FILES)
        .map(Handle::name)
        .filter(|name| catalog.get(name).is_none())
        .collect();
    assert!(absent.contains(&"context_read") && absent.contains(&"grep"));
    let is_name = |it: char| it.is_alphanumeric() || it == '_';
    for definition in catalog.names().filter_map(|name| catalog.get(name)) {
        let words = format!("{} {}", definition.description, definition.input_schema);
        for word in words.split(|it| !is_name(it)).filter(|word| word.contains('_')) {
            assert!(!absent.contains(&word), "`{}` names `{word}`", definition.name);
        }
    }
}
