//! The problems of tools that are being registered or adapted.

use std::fmt;

use toolwright_core::schema::SchemaProblem;
use toolwright_core::spec::Location;

/// Why a registry cannot be made from these tools, or cannot add them. The error lists every problem, each with its
/// source location.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryError {
    /// The problems; the list is never empty.
    pub problems: Vec<RegistryProblem>,
}
toolwright_core::debug_as_sentence!(RegistryError);

/// One reason why tools cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryProblem {
    /// Two tools have the same name.
    Duplicate {
        /// The name that both tools have.
        name: String,
        /// The location in the source where the first tool is declared.
        first: Location,
        /// The location in the source where the second tool is declared.
        second: Location,
    },
    /// A tool has no schema that could be used.
    Schema {
        /// The name of the tool.
        name: String,
        /// The location in the source where the tool is declared.
        location: Location,
        /// What is wrong with the schema.
        problem: SchemaProblem,
    },
    /// The tool cannot be changed in the way that the application's adaptation asks for.
    Adaptation {
        /// The name of the tool.
        name: String,
        /// The location in the source where the tool is declared.
        location: Location,
        /// What is wrong with the adaptation, and at which argument.
        problem: SchemaProblem,
    },
    /// The pattern of an adaptation is invalid.
    Pattern {
        /// What is wrong with the pattern.
        problem: String,
    },
    /// A tool has a name by which models could not call the tool, or profiles could not select it.
    Name {
        /// The name of the tool.
        name: String,
        /// The location in the source where the tool is declared.
        location: Location,
        /// What is wrong with the name.
        problem: &'static str,
    },
    /// A run-time tool has no description.
    NoDescription {
        /// The name of the tool.
        name: String,
        /// The location in the source where the tool is declared.
        location: Location,
    },
    /// A tool is limited to 0 concurrent calls, so that no call could ever run.
    NoCalls {
        /// The name of the tool.
        name: String,
        /// The location in the source where the tool is declared.
        location: Location,
    },
    /// A tool whose calls are carried out elsewhere has no time limit, so that its calls could wait for ever.
    NoDeadline {
        /// The name of the tool.
        name: String,
        /// The location in the source where the tool is declared.
        location: Location,
    },
    /// A tool is declared to continue in the background, but it runs in this process or is terminal.
    Background {
        /// The name of the tool.
        name: String,
        /// The location in the source where the tool is declared.
        location: Location,
        /// Whether the tool is terminal. Otherwise, the problem is that the tool runs in this process.
        is_terminal: bool,
    },
    /// No tool is linked into the program, probably because a `link!` was forgotten.
    NothingLinked,
}

impl fmt::Display for RegistryError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the tools make no registry")?;
        self.problems.iter().try_for_each(|problem| write!(formatter, "\n- {problem}"))
    }
}

impl fmt::Display for RegistryProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { name, first, second } if first == second => {
                write!(formatter, "the tool `{name}` at {first} is given twice; keep one")
            }
            Self::Duplicate { name, first, second } => write!(
                formatter,
                "two tools are called `{name}`: one at {first}, one at {second}; rename one with `#[tool(name = \"…\")]`, or where it is registered with `.renamed(\"…\")`"
            ),
            Self::Schema { name, location, problem } => {
                write!(formatter, "the tool `{name}` at {location} has no usable schema: {problem}")
            }
            Self::Pattern { problem } => formatter.write_str(problem),
            Self::Adaptation { name, location, problem } => {
                write!(formatter, "the tool `{name}` at {location} cannot be adapted so: {problem}")
            }
            Self::Name { name, location, problem } => write!(
                formatter,
                "the tool at {location} cannot be called {name:?}: {problem}; give it a name like `read_file`"
            ),
            Self::NoDescription { name, location } => write!(
                formatter,
                "the tool `{name}` at {location} has no description, which is all that a model reads of it; give it one"
            ),
            Self::NoCalls { name, location } => write!(
                formatter,
                "the tool `{name}` at {location} has a limit of 0 calls at once, which lets none run; set at least 1"
            ),
            Self::NoDeadline { name, location } => write!(
                formatter,
                "the tool `{name}` at {location} is carried out elsewhere and has no time limit, so that its calls could wait for ever; set `timeout`, or leave it out for as long as an approval may take"
            ),
            Self::Background { name, location, is_terminal: true } => write!(
                formatter,
                "the tool `{name}` at {location} is terminal and goes on in the background, so that its run could not end by its result; drop one of them"
            ),
            Self::Background { name, location, .. } => write!(
                formatter,
                "the tool `{name}` at {location} goes on in the background and runs here; make it with `DynamicTool::external`, or drop `.background()`"
            ),
            Self::NothingLinked => formatter.write_str(
                "no tool is linked into this program: a crate that only `Cargo.toml` names is left out by the linker; write `toolwright::link!(my_tools);` beside `main` with that crate's name, or give the tools by name to `Registry::of`",
            ),
        }
    }
}

impl std::error::Error for RegistryError {}

/// Returns what is wrong with a tool's name, by which models call the tool and profiles select it.
pub(super) fn wrong_with_name(name: &str) -> Option<&'static str> {
    const LONGEST: usize = 256;
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > LONGEST {
        return Some("it is longer than 256 bytes");
    }
    if name.chars().any(|it| it.is_whitespace() || it.is_control()) {
        return Some("it has white space or control characters");
    }
    if name.contains('*') || name.starts_with('!') {
        return Some("profiles take `*` and a leading `!` for patterns");
    }
    if name.starts_with("group:") || name.starts_with("tag:") {
        return Some("profiles take `group:` and `tag:` for groups and tags");
    }
    None
}
