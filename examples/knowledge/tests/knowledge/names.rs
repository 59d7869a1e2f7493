//! The names under which the tools are registered.

use serde_json::{Value, json};
use toolwright::Handle;
use toolwright_toolbox::{CONTEXT, FILES, LinePatch};

use crate::support::Shelf;

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

/// S0.82
#[test]
fn the_tools_have_the_names_of_the_page_and_no_description_names_one_that_is_not_there() {
    let catalog = Shelf::new().executor.registry().catalog();
    for name in ["read", "write", "edit", "search", "tree", "refresh", "query", "pipe"] {
        assert!(catalog.get(&format!("membot_{name}")).is_some(), "{name}");
    }
    assert!(catalog.get("search_grep").is_some() && catalog.get("mcp_exec").is_some());
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

/// S0.57
#[tokio::test]
async fn a_pipe_of_another_name_pipes_no_pipe_and_stores_what_another_tool_answers() {
    let shelf = Shelf::new();
    shelf.put("notes.txt", "quarterly revenue\n");
    let pipe = |tool: &str, input: Value| {
        let input = json!({"tool_name": tool, "tool_input": input, "path": "found"});
        async { shelf.call("membot_pipe", input).await }
    };
    let nested = json!({"tool_name": "search_grep", "tool_input": {}, "path": "b"});
    assert_eq!(pipe("membot_pipe", nested).await["error_type"], "forbidden_tool");
    let stored = pipe("search_grep", json!({"pattern": "revenue"})).await;
    assert!(stored["preview"].as_str().unwrap().contains("notes.txt"), "{stored}");
}
