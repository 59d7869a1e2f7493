//! The commands: a namespace for each group, a subcommand for each tool.

use std::fmt;

use clap::{Arg, ArgMatches, Command};

use super::{Exit, answer, arguments, complain, exit_of, print};
use crate::call::Call;
use crate::executor::Executor;
use crate::registry::Registry;
use crate::stage::record::chain;
use crate::tool::Definition;

/// Two commands or two flags that would have one name.
#[derive(Debug)]
pub(super) enum Collision {
    Command(String),
    Flag { tool: String, flag: String },
}

impl fmt::Display for Collision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => write!(
                formatter,
                "two commands would be called `{command}`; rename a tool or its group with `#[tool(name = \"…\", group = \"…\")]`"
            ),
            Self::Flag { tool, flag } => write!(
                formatter,
                "the command of the tool `{tool}` would have the flag `{flag}` twice; rename the parameter with `#[arg(name = \"…\")]` or give it another letter"
            ),
        }
    }
}

pub(super) fn of(registry: &Registry) -> Result<Command, Collision> {
    let mut root = Command::new(program())
        .about("Runs this application's tools")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(answer::command());
    let catalog = registry.catalog();
    let ungrouped = catalog.definitions().filter(|definition| definition.group.is_none());
    for definition in ungrouped {
        root = add(root, of_tool(definition)?)?;
    }
    let mut groups: Vec<&str> =
        catalog.definitions().filter_map(|definition| definition.group.as_deref()).collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        let mut namespace = Command::new(group.to_owned())
            .about(format!("Tools of the group {group}"))
            .subcommand_required(true)
            .arg_required_else_help(true);
        for definition in
            catalog.definitions().filter(|definition| definition.group.as_deref() == Some(group))
        {
            namespace = add(namespace, of_tool(definition)?)?;
        }
        root = add(root, namespace)?;
    }
    Ok(root)
}

fn add(parent: Command, child: Command) -> Result<Command, Collision> {
    let name = child.get_name();
    // clap adds `help` itself.
    if name == "help" || parent.find_subcommand(name).is_some() {
        return Err(Collision::Command(name.to_owned()));
    }
    Ok(parent.subcommand(child))
}

fn of_tool(definition: &Definition) -> Result<Command, Collision> {
    let (first, _) =
        definition.description.split_once("\n\n").unwrap_or((&definition.description, ""));
    let whole =
        Arg::new(arguments::WHOLE).long("json").value_name("JSON").help(whole_help(definition));
    let command = Command::new(name(definition))
        .about(first.to_owned())
        .long_about(definition.description.clone())
        .args(arguments::of(definition))
        .arg(whole);
    match twice(&command) {
        Some(flag) => Err(Collision::Flag { tool: definition.name.clone(), flag }),
        None => Ok(command),
    }
}

/// What `--json` is for, and what only it can give.
fn whole_help(definition: &Definition) -> String {
    let only: Vec<String> = definition
        .parameters
        .iter()
        .filter(|it| arguments::has_no_flag(it))
        .map(|it| format!("; the only way to give `{}`", it.name))
        .collect();
    format!("The whole input as JSON; `-` reads it from standard input{}", only.concat())
}

/// The first flag that a command has twice, `--help` and `-h` of clap's own included.
fn twice(command: &Command) -> Option<String> {
    let own = ["--help".to_owned(), "-h".to_owned()];
    let long = command.get_arguments().filter_map(Arg::get_long).map(|long| format!("--{long}"));
    let short = command.get_arguments().filter_map(Arg::get_short).map(|short| format!("-{short}"));
    let mut flags: Vec<String> = own.into_iter().chain(long).chain(short).collect();
    flags.sort_unstable();
    flags.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
}

/// The tool's name without its group's word: `read_file` and `file_read` in group `file` are both
/// `file read`.
fn name(definition: &Definition) -> String {
    let name = definition.name.replace(['_', '.'], "-");
    let Some(group) = &definition.group else { return name };
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
    let wanted =
        |definition: &&Definition| definition.group.as_deref() == group && name(definition) == word;
    let catalog = executor.catalog();
    match catalog.definitions().find(wanted) {
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
        None => print(&answer.text()),
        Some(error) => {
            let exit = exit_of(error.classified());
            let hint =
                error.next_action().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            let cause = error.source().map(|cause| format!("\ncaused by: {}", chain(cause)));
            complain(exit, format!("{}: {error}{hint}{}", error.kind(), cause.unwrap_or_default()))
        }
    }
}

/// What the user typed to start the program.
fn program() -> String {
    let path = std::env::args_os().next().map(std::path::PathBuf::from);
    let stem = path.as_deref().and_then(std::path::Path::file_stem);
    stem.map_or_else(|| "tools".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
#[expect(
    unsafe_code,
    reason = "linkme places each tool in a section; only in this crate is it seen"
)]
mod tests {
    use super::*;

    /// Helps.
    #[crate::tool(crate = crate)]
    async fn help() {}

    /// Answers.
    #[crate::tool(crate = crate)]
    async fn answer() {}

    /// Reads one way.
    #[crate::tool(crate = crate, group = "file")]
    async fn read_file() {}

    /// Reads another way.
    #[crate::tool(crate = crate, group = "file")]
    async fn file_read() {}

    /// Converts.
    #[crate::tool(crate = crate)]
    async fn convert(
        /// To JSON.
        json: bool,
        /// How.
        _how: Option<String>,
    ) {
        let _ = (json, _how);
    }

    /// Copies.
    #[crate::tool(crate = crate)]
    async fn copy(
        /// One.
        a_b: bool,
        /// The other.
        #[arg(name = "a.b")]
        other: bool,
    ) {
        let _ = (a_b, other);
    }

    fn refused(tools: impl IntoIterator<Item = crate::Handle>) -> String {
        of(&Registry::of(tools).unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn two_commands_of_one_name_are_refused_with_a_sentence() {
        assert!(refused([HELP]).starts_with("two commands would be called `help`"));
        assert!(refused([ANSWER]).starts_with("two commands would be called `answer`"));
        assert!(refused([READ_FILE, FILE_READ]).starts_with("two commands would be called `read`"));
    }

    #[test]
    fn two_flags_of_one_name_are_refused_with_a_sentence() {
        let sentence = "the command of the tool `copy` would have the flag `--a-b` twice";
        assert!(refused([COPY]).starts_with(sentence));
    }

    #[test]
    fn a_parameter_without_a_flag_of_its_own_is_given_by_the_whole_input() {
        let command = of(&Registry::of([CONVERT]).unwrap()).unwrap();
        command.clone().debug_assert();
        let help = command.find_subcommand("convert").unwrap().clone().render_help().to_string();
        assert!(help.contains("the only way to give `json`"), "{help}");
        assert!(help.contains("--how"), "{help}");
    }
}
