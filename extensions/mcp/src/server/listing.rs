//! The tools of a catalog as the protocol lists them: in pages with cursors, and the mapping from listed names back to
//! tools. The functions do no I/O.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{Tool, ToolAnnotations};
use toolwright::dialect::{Dialect, DialectError};
use toolwright::{Catalog, Danger, DeclaredDanger, Definition, Effect, Exposure};

/// The tools that a session's client was shown.
#[derive(Debug)]
pub(super) struct ShownTools {
    pub(super) catalog: Catalog,
    tools: Vec<Tool>,
    /// The tools' names in the registry, by the names that the client was shown.
    names: HashMap<String, String>,
    /// The pages that were requested, as JSON, by their first and last index.
    texts: Mutex<HashMap<(usize, usize), Arc<str>>>,
}

/// The error for a cursor that does not belong to the current list of this session.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StaleCursor;

impl ShownTools {
    /// Lists all tools of the catalog but the hidden ones. Clients have no tool search, so deferred tools are listed as
    /// well.
    pub(super) fn of(catalog: &Catalog) -> Result<Self, DialectError> {
        let deferred = catalog.definitions().filter(|it| it.exposure == Exposure::Deferred);
        let deferred: Vec<&str> = deferred.map(|it| it.name.as_str()).collect();
        let catalog = catalog.revealing(deferred).unwrap_or_else(|_| catalog.clone());
        let listing = catalog.listing(Dialect::Mcp)?;
        let mut tools: Vec<Tool> = serde_json::from_str(listing.tools().get())
            .expect("the dialect writes the tools of the protocol");
        let shown = catalog.definitions().filter(|it| it.exposure != Exposure::Hidden);
        let mut names = HashMap::new();
        for (tool, definition) in tools.iter_mut().zip(shown) {
            tool.annotations = Some(annotations(definition));
            names.insert(tool.name.to_string(), definition.name.clone());
        }
        Ok(Self { catalog, tools, names, texts: Mutex::default() })
    }

    /// Returns the range of a page among the tools.
    pub(super) fn page(
        &self,
        cursor: Option<&str>,
        size: usize,
    ) -> Result<Range<usize>, StaleCursor> {
        let start = match cursor {
            None => 0,
            Some(cursor) => self.offset(cursor, size)?,
        };
        Ok(start..start.saturating_add(size).min(self.tools.len()))
    }

    pub(super) fn tools(&self, page: &Range<usize>) -> &[Tool] {
        &self.tools[page.clone()]
    }

    /// Returns the tools of a page as JSON, which is serialized only once.
    pub(super) fn text(&self, page: &Range<usize>) -> Arc<str> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let text = texts.entry((page.start, page.end)).or_insert_with(|| {
            serde_json::to_string(self.tools(page)).expect("a tool is JSON").into()
        });
        Arc::clone(text)
    }

    /// Returns the cursor of the next page, if there is one.
    pub(super) fn next(&self, page: &Range<usize>) -> Option<String> {
        (page.end < self.tools.len()).then(|| self.cursor(page.end))
    }

    /// Returns the tool for a listed name; `None` if the name was not listed.
    pub(super) fn tool(&self, shown: &str) -> Option<&str> {
        self.names.get(shown).map(String::as_str)
    }

    fn cursor(&self, offset: usize) -> String {
        format!("{}.{offset}", self.catalog.generation())
    }

    fn offset(&self, cursor: &str, size: usize) -> Result<usize, StaleCursor> {
        let (generation, offset) = cursor.split_once('.').ok_or(StaleCursor)?;
        let is_current = generation.parse() == Ok(self.catalog.generation());
        let offset = offset.parse().ok().filter(|it| *it < self.tools.len() && it % size == 0);
        offset.filter(|_| is_current).ok_or(StaleCursor)
    }
}

/// Returns the annotations of a tool, which clients may show to people. Unknown properties are left out; clients then
/// assume the worst.
fn annotations(definition: &Definition) -> ToolAnnotations {
    let is_read = definition.effect == Effect::Read;
    let mut annotations = ToolAnnotations::new().read_only(is_read);
    annotations.title.clone_from(&definition.title);
    if !is_read {
        annotations.idempotent_hint = Some(definition.effect == Effect::Idempotent);
        annotations.destructive_hint = Some(match definition.danger {
            DeclaredDanger::Level(level) => level != Danger::Safe,
            DeclaredDanger::Computed => true,
        });
        if definition.danger == DeclaredDanger::Level(Danger::Critical) {
            annotations.open_world_hint = Some(true);
        }
    }
    annotations
}
