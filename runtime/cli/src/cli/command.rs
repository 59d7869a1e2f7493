//! The commands of a set of tools: a namespace for each group, and a subcommand for each tool.

use std::collections::{BTreeMap, HashMap};

use clap::{Arg, Command};

use super::collision::{CommandError, CommandProblem, NamedTool};
use super::names::Words;
use super::{completions, flags, help, manual, policy, tools};
use toolwright_core::tool::Definition;

/// Names that no group and no ungrouped tool may have.
pub(super) const OWN: [&str; 4] = [tools::NAME, policy::NAME, completions::NAME, manual::NAME];

/// The maximum width of help texts.
const WIDTH: usize = 100;

/// A tool and the command that runs it.
type Tool<'a> = (&'a Definition, Command);

/// Makes the commands of these tools and the commands that every command line has. With `takes_yes`, tools have the
/// flag `--yes`.
pub(super) fn of<'a>(
    definitions: impl IntoIterator<Item = &'a Definition>,
    takes_yes: bool,
) -> Result<Command, CommandError> {
    let mut groups: BTreeMap<String, Vec<Tool<'_>>> = BTreeMap::new();
    let mut ungrouped: Vec<Tool<'_>> = Vec::new();
    let mut problems = Vec::new();
    let mut known: HashMap<Words, &Definition> = HashMap::new();
    for definition in definitions {
        let words = Words::of(definition);
        if let Some(problem) = check_places(definition, &words, &known) {
            problems.push(problem);
            continue;
        }
        let command = of_tool(words.tool.clone(), definition, takes_yes);
        let flag = twice(&command);
        problems.extend(
            flag.map(|flag| CommandProblem::Flag { flag, tool: NamedTool::of(definition) }),
        );
        known.insert(words.clone(), definition);
        match words.group {
            Some(group) => groups.entry(group).or_default().push((definition, command)),
            None => ungrouped.push((definition, command)),
        }
    }
    for (tool, command) in &ungrouped {
        let command = command.get_name();
        if let Some((inside, _)) = groups.get(command).and_then(|tools| tools.first()) {
            problems.push(CommandProblem::ToolAndGroup {
                command: command.to_owned(),
                tool: NamedTool::of(tool),
                inside: NamedTool::of(inside),
            });
        }
    }
    if !problems.is_empty() {
        return Err(CommandError { problems });
    }
    let ungrouped = ungrouped.into_iter().map(|(_, command)| command);
    let groups = groups.into_iter().map(|(name, tools)| of_group(name, tools));
    let root = Command::new("tools")
        .about("Run tools")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(ungrouped.chain(groups))
        .subcommands([tools::command(), policy::command()]);
    Ok(wrap(root))
}

/// Checks that a tool's command has a valid name, and that no earlier tool has the same command.
fn check_places(
    definition: &Definition,
    words: &Words,
    known: &HashMap<Words, &Definition>,
) -> Option<CommandProblem> {
    let top = words.group.as_ref().unwrap_or(&words.tool);
    let tool = NamedTool::of(definition);
    if words.tool.is_empty() || top.is_empty() {
        return Some(CommandProblem::Nameless { tool });
    }
    if let Some(command) = OWN.iter().find(|own| *own == top) {
        return Some(CommandProblem::Reserved { command, tool, group: definition.group.clone() });
    }
    let first = NamedTool::of(known.get(words)?);
    Some(CommandProblem::Same { command: words.to_string(), first, second: tool })
}

fn wrap(command: Command) -> Command {
    command.max_term_width(WIDTH).disable_help_flag(true).arg(flags::help())
}

fn of_group(name: String, tools: Vec<Tool<'_>>) -> Command {
    const FEW: usize = 6;
    let mut names: Vec<&str> = tools.iter().map(|(_, command)| command.get_name()).collect();
    let more = names.len().saturating_sub(FEW);
    names.truncate(FEW);
    let listed = names.join(", ");
    let about = if more == 0 { listed } else { format!("{listed} and {more} more") };
    // `about` names only a few tools, but the help page lists all of them.
    let page = format!(
        "Tools of the group `{name}`\n\n{{usage-heading}} {{usage}}\n\n{{all-args}}{{after-help}}"
    );
    let namespace = Command::new(name)
        .about(about)
        .help_template(page)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands(tools.into_iter().map(|(_, command)| command));
    wrap(namespace)
}

fn of_tool(name: String, definition: &Definition, takes_yes: bool) -> Command {
    let command = Command::new(name)
        .about(help::in_a_list(definition))
        .long_about(definition.description.clone())
        .after_help(help::of_tool(definition, takes_yes))
        .max_term_width(WIDTH)
        .disable_help_flag(true);
    flags::add_to(command, definition, takes_yes)
}

/// Returns the first flag that a command defines twice.
fn twice(command: &Command) -> Option<String> {
    let aliases = command.get_arguments().filter_map(Arg::get_all_aliases).flatten();
    let long = command.get_arguments().filter_map(Arg::get_long).chain(aliases);
    let long = long.map(|long| format!("--{long}"));
    let short = command.get_arguments().filter_map(Arg::get_short).map(|short| format!("-{short}"));
    let mut flags: Vec<String> = long.chain(short).collect();
    flags.sort_unstable();
    flags.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::typed;
    use super::*;
    use toolwright_executor::dynamic::DynamicTool;
    use toolwright_executor::registry::Registry;

    /// Helps.
    #[toolwright::tool]
    async fn help() {}

    /// Shows.
    #[toolwright::tool(group = "tools")]
    async fn show() {}

    /// Reads one way.
    #[toolwright::tool(group = "file")]
    async fn read_file() {}

    /// Reads another way.
    #[toolwright::tool(group = "file")]
    async fn file_read() {}

    /// Files.
    #[toolwright::tool]
    async fn file() {}

    /// Copies.
    #[toolwright::tool]
    async fn copy(
        /// One.
        a_b: bool,
        /// The other.
        #[arg(name = "a.b")]
        other: bool,
    ) {
        let _ = (a_b, other);
    }

    /// Converts.
    #[toolwright::tool]
    async fn convert(
        /// From where.
        path: String,
        /// To JSON.
        json: bool,
        /// How often.
        #[arg(default = 1)]
        max_rounds: u64,
        /// What else.
        #[arg(default = vec![])]
        words: Vec<String>,
        /// Whether to keep it.
        #[arg(default = true)]
        keep: bool,
    ) {
        let _ = (path, json, max_rounds, words, keep);
    }

    fn refused(tools: impl IntoIterator<Item = toolwright::Handle>) -> Vec<String> {
        let error = of(Registry::of(tools).unwrap().catalog().definitions(), true).unwrap_err();
        assert_eq!(error.to_string().lines().count(), error.problems.len() + 1);
        error.problems.iter().map(ToString::to_string).collect()
    }

    fn typed(definition: &Definition, words: &[&str]) -> Result<String, String> {
        let command = of([definition], true).unwrap();
        command.clone().debug_assert();
        let matches = command
            .try_get_matches_from([&["it", "convert"], words].concat())
            .map_err(|error| error.to_string())?;
        typed::input(definition, matches.subcommand().unwrap().1)
    }

    #[test]
    fn every_collision_is_told_with_the_places_of_both() {
        let problems = refused([HELP, SHOW, READ_FILE, FILE_READ, FILE]);
        for (problem, words) in problems.iter().zip([
            ["the tool `help` at ", "would be the command `help`, which every command line has"],
            ["the group `tools` of the tool `show` at ", "would be the command `tools`"],
            ["and the tool `file_read` at ", "would both be the command `file read`"],
            ["the tool `file` at ", "which is the group of the tool `read_file` at "],
        ]) {
            assert!(words.iter().all(|it| problem.contains(it)), "{problem}");
        }
        assert_eq!(problems.len(), 4);
    }

    #[test]
    fn a_flag_that_a_tool_would_have_twice_is_told() {
        let problems = refused([COPY]);
        let words = "would have the flag `--a-b` twice";
        assert!(problems[0].contains(words), "{problems:?}");
    }

    /// Renames.
    #[toolwright::tool]
    async fn rename(
        /// One.
        #[arg(default = "", alias = "new_name")]
        to: String,
        /// The other.
        #[arg(default = "", alias = "new.name")]
        into: String,
    ) {
        let _ = (to, into);
    }

    #[test]
    fn an_alias_that_two_flags_would_have_is_told() {
        let problems = refused([RENAME]);
        assert!(problems[0].contains("would have the flag `--new-name` twice"), "{problems:?}");
    }

    /// Converts.
    #[toolwright::tool(name = "convert")]
    async fn sign_in(
        /// By what.
        #[arg(secret, positional)]
        password: String,
    ) {
        let _ = password;
    }

    #[test]
    fn a_positional_secret_is_read_from_a_variable_too() {
        let (definition, _) = toolwright_schema::schema::describe(SIGN_IN.spec()).unwrap();
        let of_variable = typed(&definition, &["--password-env", "CARGO_PKG_NAME"]).unwrap();
        let expected = json!({"password": env!("CARGO_PKG_NAME")});
        assert_eq!(serde_json::from_str::<Value>(&of_variable).unwrap(), expected);
        assert!(typed(&definition, &["hunter2"]).is_err());
    }

    #[test]
    fn a_tool_of_which_only_the_schema_is_known_takes_the_same_flags() {
        let (known, _) = toolwright_schema::schema::describe(CONVERT.spec()).unwrap();
        let (mut arrived, _) = toolwright_schema::schema::describe(CONVERT.spec()).unwrap();
        arrived.parameters.clear();
        for (words, input) in [
            (&["a.txt", "--arg-json"][..], json!({"path": "a.txt", "json": true})),
            (
                &["a.txt", "--no-arg-json", "--max-rounds", "9007199254740993", "--no-keep"],
                json!({"path": "a.txt", "json": false, "max_rounds": 9_007_199_254_740_993_u64, "keep": false}),
            ),
            (&["--arg-json", "--", "-a"], json!({"path": "-a", "json": true})),
            (
                &["1", "--arg-json", "--words=-x", "--words", "y z", "--max-rounds", "ten"],
                json!({"path": "1", "json": true, "words": ["-x", "y z"], "max_rounds": "ten"}),
            ),
        ] {
            for definition in [&known, &arrived] {
                let typed = typed(definition, words).unwrap();
                assert_eq!(serde_json::from_str::<Value>(&typed).unwrap(), input, "{typed}");
            }
        }
        for definition in [&known, &arrived] {
            let missing = typed(definition, &["a.txt"]).unwrap_err();
            assert!(missing.contains("--arg-json"), "{missing}");
        }
    }

    #[test]
    fn what_the_schema_of_a_run_time_tool_calls_secret_need_not_be_typed() {
        let schema = json!({
            "type": "object",
            "properties": {
                "password": {"type": "string", "format": "password"},
                "times": {"type": "integer"},
                "user": {"type": "string"},
            },
            "required": ["user", "times", "password"],
        });
        let tool = DynamicTool::new("convert", "Converts.", schema, |_, _| async { Ok(()) });
        let definition = Registry::of([tool]).unwrap().get("convert").unwrap();
        let of_variable = &["ada", "3", "--password-env", "CARGO_PKG_NAME"];
        let typed_input = typed(&definition, of_variable).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&typed_input).unwrap(),
            json!({"user": "ada", "times": 3, "password": env!("CARGO_PKG_NAME")})
        );
        assert!(typed(&definition, &["ada", "3", "hunter2"]).is_err());
    }
}
