//! Names to tools. A registry is made once and does not change; two tools of one name are an error
//! that tells both places.

mod near;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::__private0::TOOLS;
use crate::dialect::{Described, Dialect, DialectError, Finding, Listing, Severity};
use crate::input::Keys;
use crate::schema::{self, Checker, SchemaProblem};
use crate::spec::{Handle, Location, Spec};
use crate::tool::{Definition, Exposure};

pub(crate) use near::near;

/// The tools of an application.
///
/// ```standalone_crate
/// use toolwright::{Registry, tool};
///
/// /// Says hello.
/// #[tool(effect = read)]
/// async fn hello() -> &'static str {
///     "hello"
/// }
///
/// // Every tool that is linked into the program…
/// let all = Registry::linked()?;
/// assert!(all.get("hello").is_some());
/// // …or exactly those that are named.
/// let some = Registry::of([HELLO])?;
/// assert_eq!(some.definitions().count(), 1);
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
#[derive(Clone)]
pub struct Registry(Arc<Inner>);

struct Inner {
    entries: Vec<Entry>,
    indices: HashMap<&'static str, usize, foldhash::fast::FixedState>,
    /// What models are shown, made when it is first asked for.
    listings: [OnceLock<Result<Listing, DialectError>>; Dialect::ALL.len()],
}

/// One tool, ready to be called.
pub(crate) struct Entry {
    pub(crate) spec: &'static Spec,
    pub(crate) definition: Definition,
    pub(crate) keys: Keys,
    output: OnceLock<Option<Checker>>,
}

impl Registry {
    /// Every tool that is linked into the program, in the order of their names.
    ///
    /// # Errors
    /// When two tools have one name, or a tool has no usable schema; all such problems at once.
    pub fn linked() -> Result<Self, RegistryError> {
        let mut tools: Vec<Handle> = TOOLS.iter().copied().collect();
        // The linker's order is nobody's; models and their caches want one that stays.
        tools.sort_by_key(|Handle(spec)| (spec.name, spec.location.file, spec.location.line));
        Self::of(tools)
    }

    /// Exactly these tools.
    ///
    /// # Errors
    /// When two tools have one name, or a tool has no usable schema; all such problems at once.
    pub fn of(tools: impl IntoIterator<Item = Handle>) -> Result<Self, RegistryError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut indices = HashMap::with_hasher(foldhash::fast::FixedState::default());
        let mut problems = Vec::new();
        for Handle(spec) in tools {
            if let Some(first) =
                indices.get(spec.name).and_then(|index: &usize| entries.get(*index))
            {
                problems.push(RegistryProblem::Duplicate {
                    name: spec.name,
                    first: first.spec.location,
                    second: spec.location,
                });
                continue;
            }
            match schema::describe(spec) {
                Ok((definition, keys)) => {
                    indices.insert(spec.name, entries.len());
                    entries.push(Entry { spec, definition, keys, output: OnceLock::new() });
                }
                Err(problem) => problems.push(RegistryProblem::Schema {
                    name: spec.name,
                    location: spec.location,
                    problem,
                }),
            }
        }
        if problems.is_empty() {
            Ok(Self(Arc::new(Inner { entries, indices, listings: Default::default() })))
        } else {
            Err(RegistryError { problems })
        }
    }

    /// The definition of a tool.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.index(name).and_then(|index| self.0.entries.get(index)).map(|entry| &entry.definition)
    }

    /// Every definition, in the order of registration.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.0.entries.iter().map(|entry| &entry.definition)
    }

    /// The tools that models are shown, in the form of one provider: those that are neither hidden nor
    /// deferred. Made once; asked for again, it allocates nothing.
    ///
    /// ```
    /// use toolwright::dialect::Dialect;
    /// use toolwright::{Registry, tool};
    ///
    /// /// Says hello.
    /// #[tool(effect = read)]
    /// async fn hello() -> &'static str {
    ///     "hello"
    /// }
    ///
    /// let listing = Registry::of([HELLO])?.listing(Dialect::Anthropic)?;
    /// assert!(listing.tools().get().starts_with(r#"[{"name":"hello","description":"Says hello.""#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the provider would refuse a tool, or all of them together; every reason at once.
    pub fn listing(&self, dialect: Dialect) -> Result<Listing, DialectError> {
        let made = self.0.listings[dialect as usize].get_or_init(|| {
            let shown = self.definitions().filter(|it| it.exposure == Exposure::Direct);
            let orders: Vec<(&Definition, Vec<&str>)> = shown
                .map(|it| (it, it.parameters.iter().map(|it| it.name.as_str()).collect()))
                .collect();
            Listing::new(dialect, orders.iter().map(|(it, order)| Described::of(it, order)))
                .map_err(|findings| DialectError { findings })
        });
        made.clone()
    }

    /// What the dialects find in the tools, notes among them; for tests.
    ///
    /// ```
    /// use toolwright::dialect::{Dialect, Severity};
    /// use toolwright::{Registry, tool};
    ///
    /// /// Says hello.
    /// #[tool(effect = read)]
    /// async fn hello() -> &'static str {
    ///     "hello"
    /// }
    ///
    /// let findings = Registry::of([HELLO])?.lint(Dialect::ALL);
    /// assert!(findings.iter().all(|finding| finding.severity == Severity::Note), "{findings:?}");
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    pub fn lint(&self, dialects: impl IntoIterator<Item = Dialect>) -> Vec<Finding> {
        let findings = dialects.into_iter().flat_map(|dialect| match self.listing(dialect) {
            Ok(listing) => listing.notes().to_vec(),
            Err(error) => error.findings,
        });
        findings.collect()
    }

    /// The same registry, once every one of the providers is known to take its tools.
    ///
    /// ```
    /// use toolwright::dialect::Dialect;
    /// use toolwright::{Registry, data, tool};
    ///
    /// /// A way to somewhere.
    /// #[data]
    /// struct Way {
    ///     /// The next step.
    ///     next: Box<Option<Way>>,
    /// }
    ///
    /// /// Goes there.
    /// #[tool]
    /// async fn go(
    ///     /// How.
    ///     way: Way,
    /// ) {
    ///     drop(way);
    /// }
    ///
    /// let registry = Registry::of([GO])?;
    /// assert!(registry.clone().shown_to([Dialect::Anthropic, Dialect::OpenAiChat]).is_ok());
    /// let error = registry.shown_to([Dialect::AnthropicStrict]).unwrap_err();
    /// assert!(error.to_string().contains("tool `go` at /input_schema/$defs/Way: the type contains itself"));
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    ///
    /// # Errors
    /// When a provider would refuse a tool; every reason of every provider at once.
    pub fn shown_to(
        self,
        dialects: impl IntoIterator<Item = Dialect>,
    ) -> Result<Self, DialectError> {
        let findings = self.lint(dialects);
        if findings.iter().any(|finding| finding.severity == Severity::Error) {
            return Err(DialectError { findings });
        }
        Ok(self)
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.0.entries
    }

    #[inline]
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.0.indices.get(name).copied()
    }

    /// Names that a model may call, for an answer to one that it may not.
    pub(crate) fn callable_names(&self) -> impl Iterator<Item = &str> {
        self.definitions().filter(|it| it.exposure != Exposure::Hidden).map(|it| it.name.as_str())
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.definitions().map(|it| &it.name)).finish()
    }
}

impl Entry {
    /// The check of the output's schema, made when it is first asked for.
    pub(crate) fn output(&self) -> Option<&Checker> {
        let made = self.output.get_or_init(|| {
            self.definition.output_schema.as_ref().and_then(|it| Checker::new(it).ok())
        });
        made.as_ref()
    }
}

/// Why tools make no registry: every problem, each with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryError {
    /// At least one.
    pub problems: Vec<RegistryProblem>,
}

/// One thing that is wrong with a set of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryProblem {
    /// Two tools have one name.
    Duplicate {
        /// The name.
        name: &'static str,
        /// The tool that was there.
        first: Location,
        /// The tool that came to it.
        second: Location,
    },
    /// A tool has no usable schema.
    Schema {
        /// The tool.
        name: &'static str,
        /// Where it is written.
        location: Location,
        /// What is wrong.
        problem: SchemaProblem,
    },
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
            Self::Duplicate { name, first, second } => write!(
                formatter,
                "two tools are called `{name}`: one at {first}, one at {second}; rename one with `#[tool(name = \"…\")]`"
            ),
            Self::Schema { name, location, problem } => {
                write!(formatter, "the tool `{name}` at {location} has no usable schema: {problem}")
            }
        }
    }
}

impl std::error::Error for RegistryError {}
