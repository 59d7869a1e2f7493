//! Why a set of tools cannot have a command line.

use std::fmt;

use toolwright_core::spec::Location;
use toolwright_core::tool::Definition;

/// The problems that prevent tools from having a command line, each with its source location.
///
/// ```
/// use toolwright::{Registry, cli, tool};
///
/// /// Helps.
/// #[tool(effect = read)]
/// async fn help() {}
///
/// let error = cli::command(&Registry::of([HELP])?.catalog()).unwrap_err();
/// assert!(error.to_string().contains("would be the command `help`, which every command line has"));
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandError {
    /// The problems, at least one.
    pub problems: Vec<CommandProblem>,
}
toolwright_core::debug_as_sentence!(CommandError);

/// A conflict between the names of tools, or a name that cannot be a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandProblem {
    /// Two tools would have the same command.
    Same {
        /// The name of the command.
        command: String,
        /// The tool that already has the command.
        first: NamedTool,
        /// The tool that was added later.
        second: NamedTool,
    },
    /// The command of a tool would be the same as the command of another tool's group.
    ToolAndGroup {
        /// The name of the command.
        command: String,
        /// The tool.
        tool: NamedTool,
        /// A tool of the group.
        inside: NamedTool,
    },
    /// A tool or its group would have the name of a command that every command line has.
    Reserved {
        /// The command.
        command: &'static str,
        /// The tool.
        tool: NamedTool,
        /// The group of the tool, if the name comes from the group.
        group: Option<String>,
    },
    /// A tool would have a flag twice.
    Flag {
        /// The flag, including its dashes.
        flag: String,
        /// The tool.
        tool: NamedTool,
    },
    /// The name of a tool or group contains no letter or digit. A tool's name counts without the name of its group.
    Nameless {
        /// The tool.
        tool: NamedTool,
    },
}

/// A tool, and the location in the source where it is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedTool {
    /// The name of the tool.
    pub name: String,
    /// The location in the source where the tool is declared.
    pub location: Location,
}

impl NamedTool {
    pub(super) fn of(definition: &Definition) -> Self {
        Self { name: definition.name.clone(), location: definition.location }
    }
}

impl fmt::Display for NamedTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the tool `{}` at {}", self.name, self.location)
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the tools make no command line")?;
        self.problems.iter().try_for_each(|problem| write!(formatter, "\n- {problem}"))
    }
}

impl fmt::Display for CommandProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same { command, first, second } => write!(
                formatter,
                "{first} and {second} would both be the command `{command}`; rename one with `#[tool(name = \"…\")]`"
            ),
            Self::ToolAndGroup { command, tool, inside } => write!(
                formatter,
                "{tool} would be the command `{command}`, which is the group of {inside}; rename one, or put both into the group"
            ),
            Self::Reserved { command, tool, group: Some(group) } => write!(
                formatter,
                "the group `{group}` of {tool} would be the command `{command}`, which every command line has; rename the group"
            ),
            Self::Reserved { command, tool, group: None } => write!(
                formatter,
                "{tool} would be the command `{command}`, which every command line has; rename it, or give it a group"
            ),
            Self::Flag { flag, tool } => write!(
                formatter,
                "{tool} would have the flag `{flag}` twice; rename a parameter with `#[arg(name = \"…\")]`, or give it another letter"
            ),
            Self::Nameless { tool } => write!(
                formatter,
                "{tool} has a name or group without a letter or digit, which makes no command; rename it"
            ),
        }
    }
}

impl std::error::Error for CommandError {}
