//! Catalogs: the tools of a registry at one moment. An executor that is pinned to a catalog runs the tools that the
//! model was shown, even if the registry has changed since. A catalog never changes, and its clones share its data.

mod adapted;
mod entry;
mod joined;
mod profile;
mod promise;
mod search;
mod unknown;
mod without;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use foldhash::fast::FixedState;

use toolwright_core::near::near;
use toolwright_core::tool::{Definition, Exposure, Summary, ToolSet};
use toolwright_wire::dialect::{DescribedTool, Dialect, DialectError, Finding, Listing, Severity};

pub(crate) use adapted::Form;
pub(crate) use entry::{Entry, Origin};
pub use profile::{InvalidPattern, Profile, ProfileError, Profiles, UnknownProfile};
pub use unknown::UnknownTool;

/// The tools of one generation of a [`Registry`](crate::registry::Registry), or a selection of them.
///
/// ```
/// use toolwright::{Call, Executor, Registry, tool};
///
/// /// Says hello.
/// #[tool(effect = read)]
/// async fn hello() -> &'static str {
///     "hello"
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let registry = Registry::of([HELLO])?;
/// let executor = Executor::builder(registry.clone()).build()?;
/// // In one turn, calls run the tools that were listed for the model.
/// let catalog = registry.catalog();
/// let turn = executor.pinned(&catalog);
/// registry.unregister("hello")?;
/// assert_eq!(turn.call(&Call::new("hello", "{}")).await.text(), "hello");
/// assert!(executor.call(&Call::new("hello", "{}")).await.is_error());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Catalog(Arc<Inner>);

struct Inner {
    generation: u64,
    tools: Arc<Tools>,
    /// The profile that selected the catalog's tools; `None` if no profile was applied.
    profile: Option<Arc<Profile>>,
    revealed: RevealedTools,
    /// The tool listings for models, each made when it is first needed.
    listings: Listings,
    /// The tool listings that also contain the deferred tools.
    searchable: Listings,
}

/// Deferred tools that are listed nevertheless.
#[derive(Clone, Default)]
struct RevealedTools {
    tools: Vec<usize>,
    /// Whether the revealed tools are listed after all other tools, in the order of `tools`.
    are_behind: bool,
}

type Listings = [OnceLock<Result<Listing, DialectError>>; Dialect::ALL.len()];

/// Tools that are found by name, and listed in order.
pub(crate) struct Tools {
    entries: Vec<Arc<Entry>>,
    indices: HashMap<Arc<str>, usize, FixedState>,
    /// The index of the deferred tools, made at the first search.
    words: OnceLock<search::Index>,
}

impl Tools {
    fn new(entries: Vec<Arc<Entry>>) -> Self {
        let names = entries.iter().map(|entry| Arc::clone(&entry.name));
        let indices = names.zip(0..).collect();
        Self { entries, indices, words: OnceLock::new() }
    }

    #[inline]
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    pub(crate) fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    fn index_of_words(&self) -> &search::Index {
        self.words.get_or_init(|| search::Index::of(&self.entries))
    }
}

impl Catalog {
    pub(crate) fn new(generation: u64, entries: Vec<Arc<Entry>>) -> Self {
        Self::with(generation, Arc::new(Tools::new(entries)), None, RevealedTools::default())
    }

    fn with(
        generation: u64,
        tools: Arc<Tools>,
        profile: Option<Arc<Profile>>,
        revealed: RevealedTools,
    ) -> Self {
        let (listings, searchable) = Default::default();
        Self(Arc::new(Inner { generation, tools, profile, revealed, listings, searchable }))
    }

    /// Returns the generation of the registry from which the catalog was made.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.0.generation
    }

    /// Returns the number of tools in the catalog.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.tools.entries.len()
    }

    /// Reports whether the catalog contains no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.tools.entries.is_empty()
    }

    /// Returns the definition of a tool.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.0.tools.entries.get(self.0.tools.index(name)?).map(|entry| &*entry.definition)
    }

    /// Lists every definition, in the order of registration.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> + Clone {
        self.0.tools.entries.iter().map(|entry| &*entry.definition)
    }

    /// Lists every name, in the order of registration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.definitions().map(|it| it.name.as_str())
    }

    /// Lists the names of the tools that have no metadata of this type. Use it in a test that every tool has such
    /// metadata.
    ///
    /// ```
    /// use toolwright::{Registry, tool};
    ///
    /// /// Says hello.
    /// #[tool(effect = read)]
    /// async fn hello() {}
    ///
    /// struct Owner(&'static str);
    ///
    /// let registry = Registry::of([HELLO.with(Owner("ada")), HELLO.renamed("hi")])?;
    /// assert_eq!(registry.catalog().lacking::<Owner>(), ["hi"]);
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    #[must_use]
    pub fn lacking<T: Send + Sync + 'static>(&self) -> Vec<&str> {
        let lacking = self.definitions().filter(|it| it.metadata::<T>().is_none());
        lacking.map(|it| it.name.as_str()).collect()
    }

    /// Returns a catalog of the tools that the profile selects. The other tools are neither listed nor callable.
    ///
    /// # Errors
    /// When one of the profile's patterns matches no tool, or no tool is left. A misspelt pattern must neither allow
    /// nor forbid a tool unnoticed.
    pub fn select(&self, profile: &Profile) -> Result<Self, ProfileError> {
        profile.matches(self)?;
        let selected = self.within(profile, |_| true);
        if selected.is_empty() { Err(ProfileError::Empty) } else { Ok(selected) }
    }

    /// Selects the tools that the profile selects and whose names `has` accepts. It is no error if a pattern matches no
    /// tool or no tool is left, because the profile was checked against a larger catalog.
    pub(crate) fn within(&self, profile: &Profile, has: impl Fn(&str) -> bool) -> Self {
        let is_selected = |index: &usize| {
            let definition = &self.0.tools.entries[*index].definition;
            profile.selects(definition) && has(&definition.name)
        };
        let selected: Vec<usize> = (0..self.len()).filter(is_selected).collect();
        let place = |old: &usize| selected.iter().position(|it| it == old);
        let RevealedTools { tools, are_behind } = &self.0.revealed;
        let tools = tools.iter().filter_map(place).collect();
        let revealed = RevealedTools { tools, are_behind: *are_behind };
        let entries = selected.iter().map(|index| Arc::clone(&self.0.tools.entries[*index]));
        let tools = Arc::new(Tools::new(entries.collect()));
        let profile = match &self.0.profile {
            Some(wider) => wider.and(profile),
            None => profile.clone(),
        };
        Self::with(self.0.generation, tools, Some(Arc::new(profile)), revealed)
    }

    /// Returns a catalog that also lists these deferred tools, such as those that a search has found, so that the model
    /// receives their schemas.
    ///
    /// # Errors
    /// When one of the names is not the name of a tool.
    pub fn revealing<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, UnknownTool> {
        self.reveal_names(names, false)
    }

    /// Returns a catalog that also lists these deferred tools, after all other tools and in the order in which they
    /// were revealed. The text of the other tools then does not change, so a provider can still take that text from
    /// its prompt cache.
    #[doc(hidden)]
    pub fn revealing_behind<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, UnknownTool> {
        self.reveal_names(names, true)
    }

    fn reveal_names<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
        are_behind: bool,
    ) -> Result<Self, UnknownTool> {
        let mut revealed = RevealedTools { are_behind, ..self.0.revealed.clone() };
        for name in names {
            let index = self.0.tools.index(name).ok_or_else(|| UnknownTool {
                name: name.to_owned(),
                near: near(name, self.callable_names()).into_iter().map(str::to_owned).collect(),
            })?;
            if !revealed.tools.contains(&index) {
                revealed.tools.push(index);
            }
        }
        let tools = Arc::clone(&self.0.tools);
        Ok(Self::with(self.0.generation, tools, self.0.profile.clone(), revealed))
    }

    /// Returns the tools that models are shown, in the format of one provider. These are the tools that are neither
    /// hidden nor deferred, and those that were revealed. The text is made once for each dialect.
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
    /// let listing = Registry::of([HELLO])?.catalog().listing(Dialect::Anthropic)?;
    /// assert!(listing.tools().get().starts_with(r#"[{"name":"hello","description":"Says hello.""#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the provider would refuse a tool, or the tools together. The error lists every reason.
    pub fn listing(&self, dialect: Dialect) -> Result<Listing, DialectError> {
        let made = self.0.listings[dialect as usize].get_or_init(|| self.list(dialect, false));
        made.clone()
    }

    /// Returns the tools for a model that can search for tools through its provider: the tools of
    /// [`listing`](Self::listing), followed by the deferred tools. The deferred tools are marked, so that the provider
    /// shows a tool when the model has found it. For a provider without such a search, returns the same text as
    /// [`listing`](Self::listing). The text is made once for each dialect.
    ///
    /// ```
    /// use toolwright::dialect::Dialect;
    /// use toolwright::{Registry, tool};
    ///
    /// /// Says hello.
    /// #[tool(deferred, effect = read)]
    /// async fn hello() -> &'static str {
    ///     "hello"
    /// }
    ///
    /// let catalog = Registry::of([HELLO])?.catalog();
    /// let listing = catalog.searchable_listing(Dialect::Anthropic)?;
    /// assert!(listing.has_deferred() && listing.tools().get().ends_with(r#""defer_loading":true}]"#));
    /// assert_eq!(catalog.searchable_listing(Dialect::Gemini)?.tools().get(), r#"[{"functionDeclarations":[]}]"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`listing`](Self::listing).
    pub fn searchable_listing(&self, dialect: Dialect) -> Result<Listing, DialectError> {
        if !dialect.has_tool_search() {
            return self.listing(dialect);
        }
        let made = self.0.searchable[dialect as usize].get_or_init(|| self.list(dialect, true));
        made.clone()
    }

    fn list(&self, dialect: Dialect, with_deferred: bool) -> Result<Listing, DialectError> {
        let (mut shown, mut deferred, mut unlisted) = (Vec::new(), Vec::new(), Vec::new());
        for (it, index) in self.definitions().zip(0..) {
            match it.exposure {
                Exposure::Direct => shown.push(it),
                Exposure::Deferred if self.0.revealed.tools.contains(&index) => {
                    shown.extend((!self.0.revealed.are_behind).then_some(it));
                }
                Exposure::Deferred if with_deferred => deferred.push(it),
                _ => unlisted.push(it),
            }
        }
        if self.0.revealed.are_behind {
            let revealed = self.0.revealed.tools.iter();
            let revealed = revealed.map(|it| &*self.0.tools.entries[*it].definition);
            shown.extend(revealed.filter(|it| it.exposure == Exposure::Deferred));
        }
        let count = shown.len();
        let orders: Vec<(&Definition, Vec<&str>)> = shown
            .into_iter()
            .chain(deferred)
            .map(|it| (it, it.parameters.iter().map(|it| it.name.as_str()).collect()))
            .collect();
        let tools = orders.iter().enumerate().map(|(index, (it, order))| {
            let described = DescribedTool::of(it, order);
            if index < count { described } else { described.deferred() }
        });
        let unlisted = unlisted.iter().map(|it| it.name.as_str());
        Listing::new(dialect, tools, unlisted).map_err(DialectError::of)
    }

    /// Lists the errors and notes that these dialects report about the tools. Use it in tests.
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
    /// let findings = Registry::of([HELLO])?.catalog().lint(Dialect::ALL);
    /// assert!(findings.iter().all(|finding| finding.severity == Severity::Note), "{findings:?}");
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    #[must_use]
    pub fn lint(&self, dialects: impl IntoIterator<Item = Dialect>) -> Vec<Finding> {
        let findings = dialects.into_iter().flat_map(|dialect| match self.listing(dialect) {
            Ok(listing) => listing.notes().to_vec(),
            Err(error) => error.findings,
        });
        findings.collect()
    }

    /// Returns the catalog if each of these providers accepts all tools in it.
    ///
    /// # Errors
    /// When a provider would refuse a tool. The error lists every reason of every provider.
    pub fn shown_to(
        self,
        dialects: impl IntoIterator<Item = Dialect>,
    ) -> Result<Self, DialectError> {
        let findings = self.lint(dialects);
        if findings.iter().any(|finding| finding.severity == Severity::Error) {
            return Err(DialectError::of(findings));
        }
        Ok(self)
    }

    pub(crate) fn tools(&self) -> &Arc<Tools> {
        &self.0.tools
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns whether a caller who is shown this catalog may call a tool that was registered later: the profile must
    /// select the tool.
    pub(crate) fn admits(&self, definition: &Definition) -> bool {
        self.0.profile.as_ref().is_none_or(|profile| profile.selects(definition))
    }

    /// Lists the names of the tools that a model may call. An answer to a call of an unknown tool suggests names from
    /// this list.
    pub(crate) fn callable_names(&self) -> impl Iterator<Item = &str> {
        self.definitions().filter(|it| it.exposure != Exposure::Hidden).map(|it| it.name.as_str())
    }

    pub(crate) fn into_definitions(self) -> impl Iterator<Item = Arc<Definition>> {
        (0..self.len()).map(move |index| Arc::clone(&self.0.tools.entries[index].definition))
    }

    /// Returns a one-line summary of each tool that is not hidden, in the order of registration.
    ///
    /// ```
    /// use toolwright::{Exposure, Registry, tool};
    ///
    /// /// Looks up a word. Takes any language, e.g. Greek.
    /// #[tool(effect = read, deferred)]
    /// async fn look_up(
    ///     /// Which.
    ///     word: String,
    /// ) {
    ///     drop(word);
    /// }
    ///
    /// let catalog = Registry::of([LOOK_UP])?.catalog();
    /// let deferred = catalog.summaries().filter(|it| it.exposure == Exposure::Deferred);
    /// let lines: Vec<String> = deferred.map(|summary| format!("- {summary}")).collect();
    /// assert_eq!(lines, ["- look_up: Looks up a word"]);
    /// # Ok::<(), toolwright::RegistryError>(())
    /// ```
    pub fn summaries(&self) -> impl Iterator<Item = Summary<'_>> {
        self.definitions().filter(|it| it.exposure != Exposure::Hidden).map(Definition::summary)
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Catalog")
            .field("generation", &self.0.generation)
            .field("tools", &self.names().collect::<Vec<_>>())
            .finish()
    }
}

impl ToolSet for Catalog {
    fn definitions(&self) -> Vec<&Definition> {
        Self::definitions(self).collect()
    }
}
