//! A conversation at the terminal. A line that begins with `/` is a command. A tool can define a command of its own.

use std::error::Error;
use std::io::Write;

use futures::StreamExt as _;
use toolwright::{Call, Catalog, Executor};
use toolwright_agent::{Agent, Chat, RunEvent};

/// Metadata of a tool that makes the tool a command of the conversation: `/name` calls the tool with the given input.
///
/// ```
/// # use knowledge::{CAPABILITIES_REFRESH, SlashCommand};
/// let tool = CAPABILITIES_REFRESH.with(SlashCommand { name: "capabilities", input: "{}" });
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SlashCommand {
    /// The name of the command, without the `/`.
    pub name: &'static str,
    /// The input of the call, as JSON.
    pub input: &'static str,
}

/// The commands that every conversation has, with their descriptions.
const OWN: [(&str, &str); 2] =
    [("help", "Lists the commands."), ("quit", "Ends the conversation.")];

/// What the conversation does after a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Continues,
    Ends,
}

/// Answers the lines of a person one after the other, until the input ends.
///
/// # Errors
/// When `out` cannot be written.
pub async fn talk(
    agent: &Agent,
    executor: &Executor,
    mut line: impl FnMut() -> std::io::Result<Option<String>>,
    out: &mut (impl Write + Send),
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut chat = agent.chat();
    loop {
        write!(out, "> ")?;
        out.flush()?;
        let Some(line) = line()? else { return Ok(()) };
        match line.trim() {
            "" => {}
            line => match line.strip_prefix('/') {
                Some(command) => {
                    if run(executor, command, out).await? == After::Ends {
                        return Ok(());
                    }
                }
                None => answer(&mut chat, line, out).await?,
            },
        }
    }
}

/// Sends a message to the agent, and prints its events until the answer is complete. After a failed turn the error is
/// printed, and the conversation continues.
async fn answer(
    chat: &mut Chat,
    line: &str,
    out: &mut (impl Write + Send),
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut events = chat.send(line).stream();
    while let Some(event) = events.next().await {
        match event {
            Ok(RunEvent::Text(text)) => write!(out, "{text}")?,
            Ok(RunEvent::ToolCall(call)) => writeln!(out, "[{} {}]", call.name, call.arguments)?,
            Ok(_) => {}
            Err(error) => write!(out, "error: {error}")?,
        }
        out.flush()?;
    }
    writeln!(out)?;
    Ok(())
}

async fn run(
    executor: &Executor,
    command: &str,
    out: &mut (impl Write + Send),
) -> Result<After, Box<dyn Error + Send + Sync>> {
    let catalog = executor.registry().catalog();
    let name = command.split_whitespace().next().unwrap_or_default();
    match name {
        "quit" => return Ok(After::Ends),
        "help" => {
            for (name, about) in commands(&catalog) {
                writeln!(out, "/{name}  {about}")?;
            }
            return Ok(After::Continues);
        }
        _ => {}
    }
    let found = catalog.definitions().find_map(|definition| {
        let command = definition.metadata::<SlashCommand>()?;
        (command.name == name).then_some((definition.name.clone(), command.input))
    });
    match found {
        Some((tool, input)) => {
            let answer = executor.call(&Call::new(tool, input)).await;
            writeln!(out, "{}", answer.text())?;
        }
        None => {
            let known = commands(&catalog);
            let near = near(name, known.iter().map(|(name, _)| *name));
            let hint = match near.as_slice() {
                [] => "`/help` lists the commands".to_owned(),
                near => format!("did you mean `/{}`?", near.join("` or `/")),
            };
            writeln!(out, "there is no command `/{}`; {hint}", name.escape_debug())?;
        }
    }
    Ok(After::Continues)
}

/// Lists the commands, each with its description.
fn commands(catalog: &Catalog) -> Vec<(&str, &str)> {
    let of_tools = catalog.definitions().filter_map(|definition| {
        let command = definition.metadata::<SlashCommand>()?;
        let about = definition.description.lines().next().unwrap_or_default();
        Some((command.name, about))
    });
    OWN.into_iter().chain(of_tools).collect()
}

/// Returns the names that are similar to `written`, the closest first.
fn near<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let likeness = |name: &str| strsim::jaro_winkler(&written.to_lowercase(), name);
    let mut near: Vec<(f64, &str)> =
        names.map(|name| (likeness(name), name)).filter(|(likeness, _)| *likeness >= 0.8).collect();
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    near.into_iter().map(|(_, name)| name).collect()
}
