//! Lists the tools that are linked into the program, and checks that they are the expected ones.
//!
//! The linker leaves out a crate that is named in `Cargo.toml` but nowhere in the code, so its tools are missing from
//! the program. The build succeeds nevertheless, so only a test can find the mistake.

use std::collections::BTreeMap;
use std::fmt;

use crate::__private0::TOOLS;
use crate::spec::{Handle, Location};

impl Handle {
    /// Lists every tool that is linked into the program, in the order of their names.
    ///
    /// ```standalone_crate
    /// use toolwright::{Handle, Registry, tool};
    ///
    /// /// Says hello.
    /// #[tool(effect = read)]
    /// async fn hello() {}
    ///
    /// let registry = Registry::of(Handle::linked().map(|tool| tool.prefixed("app_")))?;
    /// assert!(registry.get("app_hello").is_some());
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    pub fn linked() -> impl Iterator<Item = Self> {
        let mut tools: Vec<Self> = TOOLS.iter().copied().collect();
        // The linker's order is not stable. But models receive the tools as a list, and a provider's prompt cache needs
        // a list in a stable order.
        tools.sort_by_key(|Self(spec)| (spec.name, spec.location.file, spec.location.line));
        tools.into_iter()
    }
}

/// Links crates of tools to which no other code refers. Without it, the linker leaves such a crate out, and its tools
/// are missing from `Registry::linked`.
///
/// ```
/// # // Any crate will do, to show what it looks like.
/// # extern crate toolwright as my_tools;
/// # extern crate toolwright as more_tools;
/// toolwright::link!(my_tools, more_tools);
/// ```
///
/// The macro expands to `use my_tools as _;` for each crate. [`expected_tools!`](crate::expected_tools) in a test
/// reports a missing `link!`.
#[macro_export]
macro_rules! link {
    ($($name:ident),+ $(,)?) => {
        $(use $name as _;)+
    };
}

/// Panics unless the linked tools are exactly the listed ones. Use it in a test of an application. The message names
/// missing tools, says whether all tools of a package are missing, and names unexpected tools.
///
/// ```standalone_crate
/// # /// Says hello.
/// # #[toolwright::tool(effect = read)]
/// # async fn hello() {}
/// # fn main() {
/// # let error = std::panic::catch_unwind(|| {
/// toolwright::expected_tools! {
///     "my-tools": ["read_file", "write_file"],
///     "my-application": ["send_report"],
/// }
/// # });
/// # assert!(error.is_err());
/// # }
/// ```
///
/// [`ExpectedTools`] makes the same check without a panic.
#[macro_export]
macro_rules! expected_tools {
    ($($package:literal: [$($tool:literal),* $(,)?]),* $(,)?) => {
        if let Err(problem) = $crate::linked::ExpectedTools::default()$(.of($package, &[$($tool),*]))*.check() {
            panic!("{problem}");
        }
    };
}

/// The tools that are expected to be linked, by package.
///
/// ```standalone_crate
/// use toolwright::ExpectedTools;
///
/// let error = ExpectedTools::default().of("my-tools", &["read_file"]).check().unwrap_err();
/// assert!(error.to_string().contains("`read_file`"));
/// assert!(error.to_string().contains("toolwright::link!(my_tools);"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ExpectedTools(BTreeMap<String, Vec<String>>);

impl ExpectedTools {
    /// Adds the tools that are expected from this package.
    #[must_use]
    pub fn of(mut self, package: &str, tools: &[&str]) -> Self {
        let expected = self.0.entry(package.replace('-', "_")).or_default();
        expected.extend(tools.iter().map(|tool| (*tool).to_owned()));
        self
    }

    /// Compares the expected tools with the linked tools.
    ///
    /// # Errors
    /// When tools are missing or unexpected; the error names all of them.
    pub fn check(self) -> Result<(), UnexpectedTools> {
        let mut linked: BTreeMap<String, Vec<Handle>> = BTreeMap::new();
        for tool in Handle::linked() {
            linked.entry(tool.location().package.replace('-', "_")).or_default().push(tool);
        }
        let mut problems = Vec::new();
        for (package, expected) in self.0 {
            let here = linked.remove(&package).unwrap_or_default();
            let missing: Vec<String> = expected
                .iter()
                .filter(|name| here.iter().all(|tool| tool.name() != name.as_str()))
                .cloned()
                .collect();
            if !missing.is_empty() && here.is_empty() {
                problems.push(Problem::CrateNotLinked { package, tools: missing });
            } else if !missing.is_empty() {
                let others = here.iter().map(|tool| tool.name().to_owned()).collect();
                problems.push(Problem::NoSuchTools { package, tools: missing, others });
            }
            let unexpected = here.iter().filter(|it| expected.iter().all(|name| name != it.name()));
            problems.extend(unexpected.map(|tool| Problem::unexpected_tool(*tool)));
        }
        // The remaining tools are of packages that the test does not list.
        problems.extend(linked.into_values().flatten().map(Problem::unexpected_tool));
        if problems.is_empty() { Ok(()) } else { Err(UnexpectedTools { problems }) }
    }
}

/// The error for linked tools that differ from the expected ones.
#[derive(Clone, PartialEq, Eq)]
pub struct UnexpectedTools {
    problems: Vec<Problem>,
}
crate::debug_as_sentence!(UnexpectedTools);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Problem {
    CrateNotLinked { package: String, tools: Vec<String> },
    NoSuchTools { package: String, tools: Vec<String>, others: Vec<String> },
    Unexpected { name: &'static str, location: Location },
}

impl Problem {
    fn unexpected_tool(tool: Handle) -> Self {
        Self::Unexpected { name: tool.name(), location: tool.location() }
    }
}

impl fmt::Display for UnexpectedTools {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("other tools are linked than were expected")?;
        self.problems.iter().try_for_each(|problem| write!(formatter, "\n- {problem}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CrateNotLinked { package, tools } => write!(
                formatter,
                "missing: {} of `{package}`, of which no tool is linked at all; if nothing refers to that crate, link it with `toolwright::link!({package});`",
                quote_all(tools)
            ),
            Self::NoSuchTools { package, tools, others } => write!(
                formatter,
                "missing: {} of `{package}`, which is linked with {}; they have other names now, or are behind a feature",
                quote_all(tools),
                quote_all(others)
            ),
            Self::Unexpected { name, location } => {
                write!(formatter, "not expected: `{name}` at {location}; add it, or do not link it")
            }
        }
    }
}

impl std::error::Error for UnexpectedTools {}

fn quote_all(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
