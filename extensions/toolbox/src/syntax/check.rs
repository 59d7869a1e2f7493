//! Middleware that checks the syntax of the files that a call has written.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright::{AfterCall, Answer, BeforeCall, Content, Middleware, MiddlewareCall, error_kind};

use super::compare::{Place, worse};
use super::language::Language;
use super::parsed::Cache;
use crate::Workspace;
use crate::blocking::blocking;
use crate::footprint::WrittenFiles;
use crate::workspace::Name;

/// The maximum size of a file that is checked: 1 MiB.
const LARGEST: usize = 1024 * 1024;

/// The most removed files that a new file is compared with.
const MOST_COMPARED: usize = 8;

/// The most places that a warning reports.
const REPORTED: usize = 3;

/// Middleware of an executor that reports syntax errors which a call has added to files.
///
/// If the footprint of a call names files of known kinds that the call writes, tree-sitter parses these files before
/// and after the call. If the edit added errors, or left tokens missing, a warning with up to three places is appended
/// to the answer. The call still succeeds. Errors from before the call are not reported.
///
/// | files | feature |
/// | --- | --- |
/// | `.js`, `.mjs`, `.cjs`, `.jsx`, `.ts`, `.mts`, `.cts`, `.tsx` | `syntax-javascript` |
/// | `.json` | `syntax-json` |
/// | `.py`, `.pyi` | `syntax-python` |
/// | `.rs` | `syntax-rust` |
/// | `.toml` | `syntax-toml` |
///
/// ```
/// # #[cfg(feature = "syntax-json")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
///
/// use toolwright::{Call, Executor, Registry};
/// use toolwright_toolbox::{FILES, SyntaxCheck, Workspace};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let workspace = Arc::new(Workspace::open(folder)?);
/// let executor = Executor::builder(Registry::of(FILES)?)
///     .unrestricted()
///     .middleware(SyntaxCheck::new(Arc::clone(&workspace)))
///     .service_arc(workspace)
///     .build()?;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let written = executor.call(&Call::new("write_file", r#"{"path":"a.json","content":"[1, 2"}"#)).await;
/// assert!(!written.is_error());
/// assert!(written.text().ends_with("line 1, column 6: missing `]` after `[1, 2`"), "{}", written.text());
/// # });
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "syntax-json"))]
/// # fn main() {}
/// ```
///
/// Files of more than 1 MiB, files that are not UTF-8, and files that take more than a second to parse are not checked.
#[derive(Clone)]
pub struct SyntaxCheck(Arc<Inner>);

struct Inner {
    workspace: Arc<Workspace>,
    cache: Cache,
}

/// The text of a file before the call that writes the file.
struct Text {
    name: Name,
    language: Language,
    text: String,
}

impl SyntaxCheck {
    /// Makes a check for the files of this workspace.
    #[must_use]
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self(Arc::new(Inner { workspace, cache: Cache::default() }))
    }

    /// Returns the texts of the files that a call writes, without those that cannot be checked.
    fn before(&self, written: &[(Name, Language)]) -> Vec<Text> {
        let texts = written.iter().filter_map(|(name, language)| {
            let text = self.text(name)?;
            Some(Text { name: name.clone(), language: *language, text })
        });
        texts.collect()
    }

    /// Returns the text of a file, empty if the file does not exist; `None` if it cannot be checked.
    fn text(&self, name: &Name) -> Option<String> {
        match self.0.workspace.read_named(name) {
            Ok(bytes) if bytes.len() <= LARGEST => String::from_utf8(bytes).ok(),
            Err(error) if error.kind() == error_kind::NOT_FOUND => Some(String::new()),
            _ => None,
        }
    }

    /// Makes the warning about new errors; `None` if there are none.
    fn warning(&self, before: &[Text]) -> Option<String> {
        let gone: Vec<&Text> = before.iter().filter(|it| self.is_gone(it)).collect();
        let warning = |file: &Text| {
            // A new file may be a renamed one, so compare it with removed files, too.
            let gone =
                gone.iter().filter(|it| file.text.is_empty() && it.language == file.language);
            self.warning_of(file, gone.map(|it| it.text.as_str()).collect())
        };
        let warnings: Vec<String> = before.iter().filter_map(warning).collect();
        (!warnings.is_empty()).then(|| warnings.join("\n"))
    }

    /// Makes the warning about the errors that were added to a file. Compares the file with its earlier text and with
    /// the removed files of the most similar size, and reports the comparison with the fewest new errors.
    fn warning_of(&self, file: &Text, mut gone: Vec<&str>) -> Option<String> {
        let after = self.text(&file.name)?;
        if after == file.text || gone.contains(&after.as_str()) {
            return None;
        }
        let cache = &self.0.cache;
        let new = cache.problems(file.language, &after)?;
        if new.is_empty() {
            return None;
        }
        gone.sort_by_key(|it| it.len().abs_diff(after.len()));
        let gone = gone.into_iter().take(MOST_COMPARED);
        let mut fewest: Option<Vec<Place>> = None;
        for earlier in std::iter::once(file.text.as_str()).chain(gone) {
            let old = cache.problems(file.language, earlier)?;
            let places = worse((earlier, &old), (&after, &new));
            if fewest.as_ref().is_none_or(|fewest| places.len() < fewest.len()) {
                fewest = Some(places);
            }
        }
        fewest.filter(|places| !places.is_empty()).map(|places| warning(&file.name, &places))
    }

    /// Returns whether a file existed before the call and has been removed.
    fn is_gone(&self, before: &Text) -> bool {
        !before.text.is_empty() && self.text(&before.name).is_some_and(|after| after.is_empty())
    }
}

fn warning(name: &Name, places: &[Place]) -> String {
    let mut words = format!(
        "warning: the call succeeded, but `{name}` has syntax errors that it did not have before:"
    );
    for Place { line, column, words: what } in places.iter().take(REPORTED) {
        words.push_str(&format!("\n  line {line}, column {column}: {what}"));
    }
    if let more @ 1.. = places.len().saturating_sub(REPORTED) {
        words.push_str(&format!("\n  and {more} more"));
    }
    words
}

/// Returns the files in known languages that a call writes.
fn list_known(written: WrittenFiles) -> Vec<(Name, Language)> {
    let names = written.names.into_iter();
    names.filter_map(|name| Language::of(name.as_str()).map(|it| (name, it))).collect()
}

impl Middleware for SyntaxCheck {
    fn before<'a>(&'a self, call: &'a MiddlewareCall<'a>) -> BoxFuture<'a, BeforeCall> {
        let written = list_known(WrittenFiles::of(call.footprint(), &self.0.workspace));
        if written.is_empty() {
            return Box::pin(std::future::ready(BeforeCall::Continue));
        }
        let check = self.clone();
        Box::pin(async move {
            let reader = check.clone();
            // If the texts cannot be read, the call runs without the check.
            match blocking(move || reader.before(&written)).await {
                Ok(before) => BeforeCall::Then(Box::new(Checking { check, before })),
                Err(_) => BeforeCall::Continue,
            }
        })
    }
}

/// A call whose files were read before its tool runs.
struct Checking {
    check: SyntaxCheck,
    before: Vec<Text>,
}

impl AfterCall for Checking {
    fn after<'a>(
        self: Box<Self>,
        _: &'a MiddlewareCall<'a>,
        answer: &'a Answer,
    ) -> BoxFuture<'a, Option<Answer>> {
        Box::pin(async move {
            if answer.is_error() {
                return None;
            }
            let warning = blocking(move || self.check.warning(&self.before)).await.ok()??;
            answer.with(Content::text(warning))
        })
    }
}

impl fmt::Debug for SyntaxCheck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SyntaxCheck").finish_non_exhaustive()
    }
}
