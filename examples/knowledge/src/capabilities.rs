//! `capabilities_refresh` writes what the agent can do into a prompt that it reads before every conversation.
//!
//! It writes `prompts/capabilities.md`: its front matter stays, and no name of a tool is in it, because those are looked up
//! when they are called. It refuses nothing; what cannot be written is `refresh_failed`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toolwright::{Catalog, Registry, ToolError, tool};
use toolwright_toolbox::write_file;

use crate::document::split;
use crate::library::Library;

const PATH: &str = "prompts/capabilities.md";

const FRONT_MATTER: &str =
    "---\ntitle: Capabilities\nloading: always\nagent-modification: true\n---\n";

/// Groups of these names come first, in this order.
const ORDER: [&str; 9] =
    ["task", "schedule", "membot", "context", "skill", "search", "mcp", "worker", "capabilities"];

/// The tools that there are, for the tool that describes them.
pub struct Inventory(pub Registry);

/// What was written.
#[toolwright::data]
pub struct Refreshed {
    path: String,
    /// How many tools are described.
    internal_tool_count: usize,
    /// Whether there was no such file.
    created_file: bool,
    message: String,
}

/// Write a summary of what you can do, by theme, into the prompt that is read before every conversation.
#[tool(unlinked, group = "capabilities", danger = moderate, effect = idempotent, writes(file = PATH), blocking)]
pub fn capabilities_refresh(
    library: &Library,
    inventory: &Inventory,
) -> Result<Refreshed, ToolError> {
    let catalog = inventory.0.catalog();
    let themes = themes(&catalog);
    if let Some(name) = named(&catalog, &themes) {
        let message =
            format!("the summary would name `{name}`, which is looked up when it is called");
        return Err(failed(message));
    }
    library.alone(|| {
        let before = match library.files().exists(PATH)? {
            true => Some(library.files().read_text(PATH)?),
            false => None,
        };
        let front = match &before {
            None => FRONT_MATTER,
            Some(text) => {
                let (_, body) = split(text).map_err(|why| failed(format!("`{PATH}`: {why}")))?;
                &text[..text.len() - body.len()]
            }
        };
        write_file(library.files(), PATH.to_owned(), format!("{front}{themes}"), None)
            .map_err(|error| failed(error.message().to_owned()))?;
        Ok(Refreshed {
            path: PATH.to_owned(),
            internal_tool_count: catalog.names().count(),
            created_file: before.is_none(),
            message: "the summary is by group; no model was asked for themes".to_owned(),
        })
    })
}

fn failed(message: String) -> ToolError {
    ToolError::new("refresh_failed", message)
}

/// A line for each group: what its tools do, in the first sentences of their descriptions.
fn themes(catalog: &Catalog) -> String {
    let mut groups: BTreeMap<(usize, &str), Vec<&str>> = BTreeMap::new();
    for definition in catalog.names().filter_map(|name| catalog.get(name)) {
        let group = definition.group.as_deref().unwrap_or("other");
        let place = ORDER.iter().position(|it| *it == group).unwrap_or(ORDER.len());
        let sentence = definition.description.split(". ").next().unwrap_or_default();
        groups.entry((place, group)).or_default().push(sentence.trim_end_matches('.'));
    }
    let mut text = "# What you can do\n\n".to_owned();
    for ((_, group), sentences) in groups {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "- {group}: {}.", sentences.join("; ").replace('\n', " "));
    }
    text
}

/// The first tool whose name is in a text.
fn named<'c>(catalog: &'c Catalog, text: &str) -> Option<&'c str> {
    let is_name = |it: char| it.is_alphanumeric() || it == '_';
    catalog.names().find(|name| text.split(|it| !is_name(it)).any(|word| word == *name))
}
