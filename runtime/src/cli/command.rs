//! The commands: a namespace for each group, a subcommand for each tool.

use std::fmt;

use clap::{Arg, ArgMatches, Command};

use super::{Exit, answer, arguments, complain, exit_of};
use crate::call::Call;
use crate::executor::Executor;
use crate::registry::Registry;
use crate::tool::Definition;

/// Two commands that would have one name.
#[derive(Debug)]
pub(super) struct Collision {
    command: String,
}

impl fmt::Display for Collision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "two commands would be called `{}`; rename a tool or its group with `#[tool(name = \"…\", group = \"…\")]`",
            self.command
        )
    }
}

pub(super) fn of(registry: &Registry) -> Result<Command, Collision> {
    let mut root = Command::new(program())
        .about("Runs this application's tools")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(answer::command());
    let ungrouped = registry.definitions().filter(|definition| definition.group.is_none());
    for definition in ungrouped {
        root = add(root, of_tool(definition))?;
    }
    let mut groups: Vec<&str> =
        registry.definitions().filter_map(|definition| definition.group).collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        let mut namespace = Command::new(group.to_owned())
            .about(format!("Tools of the group {group}"))
            .subcommand_required(true)
            .arg_required_else_help(true);
        for definition in
            registry.definitions().filter(|definition| definition.group == Some(group))
        {
            namespace = add(namespace, of_tool(definition))?;
        }
        root = add(root, namespace)?;
    }
    Ok(root)
}

fn add(parent: Command, child: Command) -> Result<Command, Collision> {
    if parent.find_subcommand(child.get_name()).is_some() {
        return Err(Collision { command: child.get_name().to_owned() });
    }
    Ok(parent.subcommand(child))
}

fn of_tool(definition: &Definition) -> Command {
    let (first, _) =
        definition.description.split_once("\n\n").unwrap_or((&definition.description, ""));
    let whole = Arg::new(arguments::WHOLE)
        .long("json")
        .value_name("JSON")
        .help("The whole input as JSON; `-` reads it from standard input");
    Command::new(name(definition))
        .about(first.to_owned())
        .long_about(definition.description.clone())
        .args(arguments::of(definition))
        .arg(whole)
}

/// The tool's name without its group's word: `read_file` and `file_read` in group `file` are both
/// `file read`.
fn name(definition: &Definition) -> String {
    let name = definition.name.replace(['_', '.'], "-");
    let Some(group) = definition.group else { return name };
    let group = group.replace(['_', '.'], "-");
    let bare =
        name.strip_prefix(&format!("{group}-")).or_else(|| name.strip_suffix(&format!("-{group}")));
    bare.map_or(name.clone(), str::to_owned)
}

pub(super) async fn run(executor: &Executor, matches: &ArgMatches) -> Exit {
    let Some((word, below)) = matches.subcommand() else {
        return complain(Exit::Usage, "no command was given");
    };
    if word == answer::NAME {
        return answer::run(executor, below).await;
    }
    let (group, word, matches) = match below.subcommand() {
        Some((tool, below)) => (Some(word), tool, below),
        None => (None, word, below),
    };
    let wanted = |definition: &&Definition| definition.group == group && name(definition) == word;
    match executor.registry().definitions().find(wanted) {
        Some(definition) => call(executor, definition, matches).await,
        None => complain(Exit::Usage, format!("no tool is called `{word}`")),
    }
}

async fn call(executor: &Executor, definition: &Definition, matches: &ArgMatches) -> Exit {
    let input = match arguments::input(definition, matches) {
        Ok(input) => input,
        Err(problem) => return complain(Exit::Usage, problem),
    };
    let answer = executor.call(&Call::new(&definition.name, input)).await;
    match answer.error() {
        None => {
            println!("{}", answer.text());
            Exit::Success
        }
        Some(error) => {
            let exit = exit_of(error.classified());
            let hint =
                error.next_action().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            complain(exit, format!("{}: {error}{hint}", error.kind()))
        }
    }
}

/// What the user typed to start the program.
fn program() -> String {
    let path = std::env::args_os().next().map(std::path::PathBuf::from);
    let stem = path.as_deref().and_then(std::path::Path::file_stem);
    stem.map_or_else(|| "tools".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
