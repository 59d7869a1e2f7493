//! The tools of a catalog as the protocol lists them: pages by a cursor, and the way back from the names that are shown.
//! Pure.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{Tool, ToolAnnotations};
use toolwright::dialect::{Dialect, DialectError};
use toolwright::{Catalog, Danger, DeclaredDanger, Definition, Effect, Exposure};

/// What a session was shown.
#[derive(Debug)]
pub(super) struct ShownTools {
    pub(super) catalog: Catalog,
    tools: Vec<Tool>,
    /// The tool that is meant by each name of the list.
    names: HashMap<String, String>,
    /// The pages that were listed, as JSON.
    texts: Mutex<HashMap<(usize, usize), Arc<str>>>,
}

/// A cursor that no list of this session has given, or that of an earlier list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StaleCursor;

impl ShownTools {
    /// Everything but hidden tools. Clients have no search, so that deferred tools are listed as well.
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

    /// Where a page is among the tools.
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

    /// The tools of a page.
    pub(super) fn tools(&self, page: &Range<usize>) -> &[Tool] {
        &self.tools[page.clone()]
    }

    /// The tools of a page as JSON; made once.
    pub(super) fn text(&self, page: &Range<usize>) -> Arc<str> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let text = texts.entry((page.start, page.end)).or_insert_with(|| {
            serde_json::to_string(self.tools(page)).expect("a tool is JSON").into()
        });
        Arc::clone(text)
    }

    /// The cursor of the page behind one, where there is one.
    pub(super) fn next(&self, page: &Range<usize>) -> Option<String> {
        (page.end < self.tools.len()).then(|| self.cursor(page.end))
    }

    /// The tool that the client means, or nothing where it was shown none of that name.
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

/// What clients may show a person. What is not known is left out; a client then assumes the worst.
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
