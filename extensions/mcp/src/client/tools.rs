//! Tools to list, search and describe other servers' tools and to call them, for models that have no search of their
//! own.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::{Call, Danger, Handle, Output, ToolContext, ToolError, error_kind, tool};

use super::McpServers;
use super::definition::{CHANGED, Definitions, ForeignTool};
use super::foreign_tool::judge;
use super::untrusted::{escaped, fenced};

/// The tools with which a model finds, describes and calls the tools of MCP servers. They need the service
/// [`McpServers`], so an executor with these tools and without servers cannot be built.
pub const MCP_TOOLS: [Handle; 4] = [MCP_LIST_TOOLS, MCP_SEARCH, MCP_INFO, MCP_EXEC];

/// The danger that [`mcp_exec`] declares. Rules and grants for `mcp_exec` rely on it.
const MCP_EXEC_DANGER: Danger = Danger::Moderate;

/// How long a server may be silent in a call through [`mcp_exec`], if its configuration sets no time-out. The time that
/// the server takes to start is not included.
const LONGEST_CALL: Duration = Duration::from_secs(300);

/// How many tools one answer lists.
const MOST: usize = 200;

/// List the tools of the connected MCP servers: a line for each, and what is wrong with those that cannot be used.
///
/// # What it does
/// Starts the servers that do not run yet, and asks each for its tools.
///
/// # What it may touch
/// It starts the programs that the application's configuration names.
///
/// # What it refuses
/// A server that the configuration does not name.
#[tool(unlinked, effect = read, reads(), timeout = none)]
pub async fn mcp_list_tools(
    servers: &McpServers,
    /// One server; all when absent.
    server: Option<String>,
) -> Result<String, ToolError> {
    let definitions = servers.definitions(server.as_deref()).await?;
    let (tools, problems) = sort(&definitions);
    Ok(shown(&tools, &problems))
}

/// Search the tools of the connected MCP servers by words of their names and descriptions.
///
/// # What it does
/// Starts the servers that do not run yet, and names the tools that have the most of the words.
///
/// # What it may touch
/// It starts the programs that the application's configuration names.
///
/// # What it refuses
/// Nothing; a server that cannot be used is named in the answer.
#[tool(unlinked, effect = read, reads(), timeout = none)]
pub async fn mcp_search(
    servers: &McpServers,
    /// The words, separated by spaces.
    #[arg(length = 1..=200, example = "read file")]
    query: String,
    /// How many tools to name.
    #[arg(default = 10, minimum = 1, maximum = 100)]
    limit: usize,
) -> Result<String, ToolError> {
    let definitions = servers.definitions(None).await?;
    let (tools, problems) = sort(&definitions);
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut found: Vec<(usize, Arc<ForeignTool>)> = tools
        .into_iter()
        .map(|tool| (hits(&tool, &words), tool))
        .filter(|(hits, _)| *hits > 0)
        .collect();
    found.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.name.cmp(&b.name)));
    let found: Vec<Arc<ForeignTool>> =
        found.into_iter().take(limit).map(|(_, tool)| tool).collect();
    Ok(shown(&found, &problems))
}

/// Describe one tool of an MCP server: what it does, its input, its output.
///
/// # What it does
/// Starts the server where it does not run yet, and shows the definition as the server gives it.
///
/// # What it may touch
/// It starts the program that the application's configuration names.
///
/// # What it refuses
/// A name that no server has.
#[tool(unlinked, effect = read, reads(), timeout = none)]
pub async fn mcp_info(
    servers: &McpServers,
    /// Its name, as the list of tools has it.
    #[arg(example = "files__read_file")]
    name: String,
) -> Result<String, ToolError> {
    let Some((server, tool)) = servers.find(&name).await? else { return Err(unknown(&name)) };
    let (effect, danger) = judge(server.trust(), &tool.annotations);
    let definition = json!({
        "name": tool.theirs,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations,
    });
    let definition = serde_json::to_string_pretty(&definition).map_err(ToolError::internal)?;
    let source = format!("MCP server `{}`", server.name());
    Ok(format!(
        "{name}: effect {}, danger {}, definition {}\n{}",
        serde_json::to_value(effect).ok().as_ref().and_then(Value::as_str).unwrap_or_default(),
        danger.as_str(),
        server.digest_of(&tool),
        fenced(&source, &definition)
    ))
}

/// Call a tool of an MCP server that is not in your list of tools. A person is asked first.
///
/// # What it does
/// Sends the call to the server, and shows its answer as unchecked text.
///
/// # What it may touch
/// Whatever the foreign tool touches.
///
/// # What it refuses
/// A definition that the tool no longer has; a name that is a tool of its own here, for which policy has rules, and a tool that
/// is more dangerous than this one: those have to be called themselves.
#[tool(
    unlinked,
    effect = once,
    timeout = none,
    danger = moderate,
    approval = "it calls a tool of another program that was not called before",
    preview = |servers, name, definition, arguments| {
        let input = Value::Object(arguments).to_string();
        let call = escaped(&format!("calls `{name}`, as its definition {definition} says, with {input}"));
        match servers.change_to(&name, &definition) {
            Some(change) => format!("{change}\n{call}"),
            None => call,
        }
    }
)]
pub async fn mcp_exec(
    servers: &McpServers,
    context: &ToolContext,
    /// Its name, as the list of tools has it.
    #[arg(example = "files__read_file")]
    name: String,
    /// The digits of the definition that `mcp_info` shows.
    #[arg(length = 32..=32, example = "0123456789abcdef0123456789abcdef")]
    definition: String,
    /// Its input, as `mcp_info` describes it.
    arguments: serde_json::Map<String, Value>,
) -> Result<Output, ToolError> {
    if servers.is_registered(&name) {
        let words = format!("`{name}` is a tool of its own");
        return Err(ToolError::invalid(words).hint(format!("call `{name}` itself")));
    }
    let Some((server, tool)) = servers.find(&name).await? else { return Err(unknown(&name)) };
    let now = server.digest_of(&tool);
    if now != definition {
        let words = format!(
            "`{name}` has the definition {now}, expected {definition}, so it was not run: its server has changed it, or is \
             configured otherwise"
        );
        let hint =
            format!("read the new definition of `{name}` with `mcp_info` before you call it");
        return Err(ToolError::new(CHANGED, words).hint(hint));
    }
    let arguments = Value::Object(arguments);
    // The rules of the policy are about the foreign tool, so check a call of that tool. The person who approved this
    // call has seen the name of that tool and its input.
    context.permits(Call::new(name.clone(), arguments.to_string())).await?;
    let (_, danger) = judge(server.trust(), &tool.annotations);
    if danger > MCP_EXEC_DANGER {
        let words =
            format!("`{name}` is {}, so it is more dangerous than this tool", danger.as_str());
        let hint = format!("call `{name}` itself");
        return Err(ToolError::new(error_kind::APPROVAL_REQUIRED, words).hint(hint));
    }
    let patience = server.call_timeout().unwrap_or(LONGEST_CALL);
    servers.call(server, &tool, arguments, Some(patience), context).await
}

type Read<'a> = (&'a str, Result<Arc<Definitions>, ToolError>);

/// Returns the tools that can be called, and a line for each server and each tool that cannot.
fn sort(definitions: &[Read<'_>]) -> (Vec<Arc<ForeignTool>>, Vec<String>) {
    let (mut tools, mut problems) = (Vec::new(), Vec::new());
    for (_, read) in definitions {
        match read {
            Ok(read) => {
                tools.extend(read.tools());
                problems.extend(read.refused().iter().map(|it| {
                    format!("`{}` of `{}` cannot be called: {}", it.tool, it.server, it.reason)
                }));
            }
            Err(error) => problems.push(error.to_string()),
        }
    }
    (tools, problems)
}

fn shown(tools: &[Arc<ForeignTool>], problems: &[String]) -> String {
    let mut text = String::new();
    for tool in tools.iter().take(MOST) {
        let line = tool.description.trim().lines().next().unwrap_or_default();
        let line: String = line.chars().take(200).collect();
        let _ = writeln!(text, "{}: {line}", tool.name);
    }
    if tools.len() > MOST {
        let _ = writeln!(text, "and {} more; search for them", tools.len() - MOST);
    }
    for problem in problems.iter().take(MOST) {
        let _ = writeln!(text, "! {problem}");
    }
    match text.as_str() {
        "" => "no tool was found".to_owned(),
        text => fenced("the MCP servers", text.trim_end()),
    }
}

/// Returns how many of the words occur in the tool's definition; a word in the tool's name counts twice.
fn hits(tool: &ForeignTool, words: &[String]) -> usize {
    let (name, description) = (tool.name.to_lowercase(), tool.description.to_lowercase());
    let hits = |word: &String| {
        2 * usize::from(name.contains(word)) + usize::from(description.contains(word))
    };
    words.iter().map(hits).sum()
}

fn unknown(name: &str) -> ToolError {
    let words = format!("no MCP server has a tool `{name}`");
    ToolError::new(error_kind::UNKNOWN_TOOL, words)
        .class(toolwright::ErrorClass::Invalid)
        .hint("list or search the tools")
}
