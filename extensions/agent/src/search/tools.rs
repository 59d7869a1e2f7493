//! The tools by which a model finds deferred tools, and the answer to a call of a tool that it has not found.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolwright::provider::ToolCall;
use toolwright::unstable::delegation::run_of;
use toolwright::{
    Calls, Catalog, Definition, DynamicTool, Effect, ErrorClass, Exposure, Footprint, ToolError,
};

/// The name of the tool that finds tools by words.
pub(super) const TOOL_SEARCH: &str = "tool_search";

/// The name of the tool that lists the tools of a group.
const TOOL_LIST: &str = "tool_list";

/// The kind of the error for a call of a tool that was not found yet.
pub(super) const NOT_LISTED: &str = "tool_not_listed";

/// How many tools a search returns, unless the model asks for another number.
const FOUND: usize = 5;

/// The maximum number of tools that one search returns.
const MOST_FOUND: usize = 20;

/// The maximum number of characters of a query that a search uses.
const QUERY: usize = 500;

/// Words of a query that are ignored, because they say nothing about a tool and other words begin with them.
const SMALL_WORDS: [&str; 24] = [
    "a", "an", "and", "any", "at", "by", "can", "for", "from", "i", "in", "into", "is", "it", "me",
    "my", "of", "on", "or", "that", "the", "this", "to", "with",
];

/// The name under which tools without a group are listed.
const OTHER: &str = "other";

/// Marks the search tool of this library, so that another tool of the same name is not mistaken for it.
struct Search;

/// Reports whether the catalog has the search tool of this library, by which a model finds deferred tools.
pub(crate) fn is_searched(catalog: &Catalog) -> bool {
    catalog.get(TOOL_SEARCH).is_some_and(|it| it.metadata::<Search>().is_some())
}

/// Makes the two tools, if the catalog has deferred tools and no tool of the application uses their names.
pub(crate) fn search_tools(catalog: &Catalog) -> Vec<DynamicTool> {
    let is_free = [TOOL_SEARCH, TOOL_LIST].iter().all(|name| catalog.get(name).is_none());
    match deferred(catalog).next() {
        Some(_) if is_free => vec![tool_search(), tool_list()],
        _ => Vec::new(),
    }
}

/// Returns the answer to a call of a deferred tool that the model has not found; `None` for a call that may run.
pub(crate) fn unlisted(call: &ToolCall, catalog: &Catalog, found: &[String]) -> Option<ToolError> {
    let definition = catalog.get(&call.name)?;
    let is_listed = definition.exposure != Exposure::Deferred || found.contains(&call.name);
    (!is_listed && is_searched(catalog)).then(|| {
        let message = format!(
            "`{}` was not run, because its parameters were not shown to you before. It is this tool: {}",
            call.name,
            json!({ "description": definition.description, "input_schema": definition.input_schema })
        );
        ToolError::new(NOT_LISTED, message)
            .class(ErrorClass::Invalid)
            .hint("it is among your tools from now on: call it again, with arguments of its schema")
    })
}

fn deferred(catalog: &Catalog) -> impl Iterator<Item = &Definition> {
    catalog.definitions().filter(|it| it.exposure == Exposure::Deferred)
}

fn tool_search() -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "What the tool should do, or words of its name." },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MOST_FOUND,
                "description": "How many tools at the most; 5 unless given.",
            },
        },
        "required": ["query"],
        "additionalProperties": false,
    });
    let description = "Searches the tools that are not listed. What it finds is among your tools from your next answer on.";
    made(DynamicTool::calling(
        TOOL_SEARCH,
        description,
        schema,
        |input: Value, _, calls| async move { search(&tools_of(&calls)?, &input) },
    ))
    .with(Search)
}

fn search(catalog: &Catalog, input: &Value) -> Result<Value, ToolError> {
    let query = input["query"].as_str().unwrap_or_default();
    let query: String = query.chars().take(QUERY).collect();
    if query.trim().is_empty() {
        return Err(ToolError::invalid("the query is empty").hint("say what the tool should do"));
    }
    let is_small = |word: &&str| SMALL_WORDS.contains(&&*word.to_lowercase());
    let words: Vec<&str> = query.split_whitespace().filter(|it| !is_small(it)).collect();
    let query = if words.is_empty() { query.clone() } else { words.join(" ") };
    let limit = input["limit"].as_u64().and_then(|it| usize::try_from(it).ok());
    let tools: Vec<Value> = catalog
        .search(&query, limit.unwrap_or(FOUND).min(MOST_FOUND))
        .into_iter()
        .map(|it| json!({ "name": it.name, "description": it.description }))
        .collect();
    Ok(match tools.is_empty() {
        true => json!({ "tools": tools, "note": "no tool fits; try other words, or `tool_list`" }),
        false => json!({ "tools": tools }),
    })
}

fn tool_list() -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "group": { "type": "string", "description": "The group. Without one, the groups are named." },
        },
        "additionalProperties": false,
    });
    let description = "Names the groups of the tools that are not listed, or the tools of one group with what each is for.";
    made(DynamicTool::calling(
        TOOL_LIST,
        description,
        schema,
        |input: Value, _, calls| async move { list(&tools_of(&calls)?, input["group"].as_str()) },
    ))
}

fn list(catalog: &Catalog, group: Option<&str>) -> Result<Value, ToolError> {
    let mut groups = BTreeMap::<&str, Vec<&Definition>>::new();
    for tool in deferred(catalog) {
        groups.entry(tool.group.as_deref().unwrap_or(OTHER)).or_default().push(tool);
    }
    let Some(group) = group else {
        let groups = groups.iter().map(|(name, it)| json!({ "group": name, "tools": it.len() }));
        return Ok(json!({ "groups": groups.collect::<Vec<_>>() }));
    };
    let Some(tools) = groups.get(group) else {
        let known: Vec<String> = groups.keys().map(|it| format!("`{it}`")).collect();
        let error = ToolError::invalid(format!("no group is called `{group}`"));
        return Err(error.hint(format!("the groups are {}", known.join(", "))));
    };
    Ok(
        json!({ "tools_of_group": tools.iter().map(|it| it.summary().to_string()).collect::<Vec<_>>() }),
    )
}

fn made(tool: DynamicTool) -> DynamicTool {
    tool.effect(Effect::Read).footprint_by(|_| Footprint::nothing()).sinks(None::<&str>)
}

/// Returns the catalog of the run that makes the search.
fn tools_of(calls: &Calls) -> Result<Catalog, ToolError> {
    let run = run_of(calls).ok_or_else(|| ToolError::internal("the search has no run"))?;
    Ok(run.catalog())
}
