//! A document as values: parses JSON or YAML, checks the version, and follows references. Nothing is downloaded.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use serde_json::Value;
use toolwright::unstable::foreign::reference;

use crate::joined::{MEMBER, add_document, shown_reference};
use crate::refusal::Refusal;
use crate::schema::Patterns;

/// An `OpenAPI` document of a supported version.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) root: Value,
    pub(crate) patterns: Patterns,
}

/// A value of the document, and its place in the document.
#[derive(Debug, Clone)]
pub(crate) struct LocatedValue<'d> {
    pub(crate) value: &'d Value,
    pub(crate) place: String,
}

/// The reason why a document cannot be read or added.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", file.display())]
    File {
        /// The path of the file.
        file: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// The text is neither JSON nor YAML.
    #[error("the document is neither JSON ({json}) nor YAML ({yaml})")]
    Syntax {
        /// The reason why the text is not JSON.
        json: String,
        /// The reason why the text is not YAML.
        yaml: String,
    },
    /// The document is of Swagger 2.0, the format before `OpenAPI`.
    #[error(
        "the document is of Swagger {found}, expected OpenAPI 3.0, 3.1 or 3.2; convert it, for instance with `npx swagger2openapi FILE`"
    )]
    Swagger {
        /// The version that was found.
        found: String,
    },
    /// The document is of an unsupported version, or is not an `OpenAPI` document.
    #[error(
        "`openapi` is {found}, expected 3.0, 3.1 or 3.2 at the beginning of an OpenAPI document"
    )]
    Version {
        /// The value of `openapi` that was found instead.
        found: String,
    },
    /// The document has no object `paths`.
    #[error("`paths` is {found}, expected an object of paths with their operations")]
    NoPaths {
        /// The value of `paths` that was found instead.
        found: String,
    },
    /// A document cannot be added under this URI.
    #[error("no document can be added as `{uri}`: {why}")]
    DocumentUri {
        /// The URI.
        uri: String,
        /// The reason why the document cannot be added.
        why: String,
    },
}
toolwright::unstable::debug_as_sentence!(LoadError);

impl Document {
    /// Parses the text as JSON or, if it is not JSON, as YAML.
    pub(crate) fn read(text: &str) -> Result<Self, LoadError> {
        Self::of(parse(text)?)
    }

    /// Copies the document for a bundle that adds other documents to it.
    pub(crate) fn copy(&self) -> Self {
        Self { root: self.root.clone(), patterns: Patterns::default() }
    }

    /// Adds a document for references that lead to this URI. Any part of the document may be a schema, a parameter or
    /// another value.
    pub(crate) fn add(&mut self, uri: &str, text: &str) -> Result<(), LoadError> {
        add_document(&mut self.root, uri, parse(text)?)
    }

    fn of(mut root: Value) -> Result<Self, LoadError> {
        // Only the application may add documents, so remove any under this key.
        if let Some(members) = root.as_object_mut() {
            members.remove(MEMBER);
        }
        if let Some(swagger) = root.get("swagger") {
            return Err(LoadError::Swagger { found: plain(swagger) });
        }
        let version = root.get("openapi").and_then(Value::as_str);
        let is_read = |it: &str| ["3.0", "3.1", "3.2"].iter().any(|known| it.starts_with(known));
        if !version.is_some_and(is_read) {
            return Err(LoadError::Version { found: described(root.get("openapi")) });
        }
        if !root.get("paths").is_some_and(Value::is_object) {
            return Err(LoadError::NoPaths { found: described(root.get("paths")) });
        }
        Ok(Self { root, patterns: Patterns::default() })
    }

    /// Follows the references from a value, such as a parameter or a body, to a value that is not a reference.
    pub(crate) fn follow<'d>(
        &'d self,
        from: LocatedValue<'d>,
    ) -> Result<LocatedValue<'d>, Refusal> {
        let mut at = from;
        for _ in 0..=reference::MOST_HOPS {
            let Some(reference) = reference::of(at.value) else { return Ok(at) };
            at = self.target(reference, &at.place)?;
        }
        Err(Refusal::new(at.place, "its references lead in a circle, expected one that ends"))
    }

    /// Finds the value that a reference points to.
    pub(crate) fn target<'d>(
        &'d self,
        reference: &str,
        place: &str,
    ) -> Result<LocatedValue<'d>, Refusal> {
        let refused = |reason| Err(Refusal::new(format!("{place}/$ref"), reason));
        let decoded = percent_decode_str(reference).decode_utf8_lossy();
        let Some(pointer) = reference::place(&decoded) else {
            return refused(format!(
                "`{}` leads to another document, expected a place of this one; read that document and add it with `.document(uri, text)`",
                shown_reference(reference)
            ));
        };
        match self.root.pointer(pointer) {
            Some(value) => Ok(LocatedValue { value, place: pointer.to_owned() }),
            None => refused(format!("`{reference}` leads to nothing")),
        }
    }

    /// Returns the document's title, or a default name.
    pub(crate) fn title(&self) -> &str {
        let title = self.root.pointer("/info/title").and_then(Value::as_str).map(str::trim);
        title.filter(|it| !it.is_empty()).unwrap_or("the API")
    }
}

impl<'d> LocatedValue<'d> {
    /// Returns the member with this key, if the value has it.
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key)?;
        Some(Self { value, place: below(&self.place, key) })
    }

    pub(crate) fn text(&self, key: &str) -> Option<&'d str> {
        self.value.get(key).and_then(Value::as_str)
    }

    /// Returns whether the member with this key is `true`.
    pub(crate) fn says(&self, key: &str) -> bool {
        self.value.get(key) == Some(&Value::Bool(true))
    }

    /// Returns the members of an object, sorted by key, so that the order depends neither on the document nor on the
    /// build.
    pub(crate) fn entries(&self) -> Vec<(&'d str, Self)> {
        let object = self.value.as_object();
        let mut entries: Vec<_> = object.into_iter().flatten().collect();
        entries.sort_by_key(|(key, _)| *key);
        let located = |(key, value): (&'d String, _)| {
            (key.as_str(), Self { value, place: below(&self.place, key) })
        };
        entries.into_iter().map(located).collect()
    }

    /// Returns the items of a list; none if the value is not a list.
    pub(crate) fn items(&self) -> impl Iterator<Item = Self> + use<'d, '_> {
        let items = self.value.as_array().into_iter().flatten().enumerate();
        items.map(|(index, value)| Self { value, place: format!("{}/{index}", self.place) })
    }
}

/// Parses a text as JSON or, if it is not JSON, as YAML.
fn parse(text: &str) -> Result<Value, LoadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(json) => serde_saphyr::from_str_with_options(text, yaml())
            .map_err(|yaml| LoadError::Syntax { json: json.to_string(), yaml: short(&yaml) }),
    }
}

/// Returns the options for YAML: `no` and `on` are strings, as `OpenAPI` demands. A document may be as large and as
/// deep as in JSON, but the expansion of its aliases is limited.
fn yaml() -> serde_saphyr::Options {
    const MOST: usize = 40_000_000;
    serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
        budget: serde_saphyr::budget! { max_events: MOST, max_nodes: MOST, max_depth: 128 },
    }
}

/// Returns the place of the member with this key, as a JSON pointer.
pub(crate) fn below(place: &str, key: &str) -> String {
    format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Describes a value in a few words, for an error.
pub(crate) fn described(value: Option<&Value>) -> String {
    match value {
        None => "missing".to_owned(),
        Some(Value::Object(_)) => "an object".to_owned(),
        Some(Value::Array(_)) => "a list".to_owned(),
        Some(other) => other.to_string().chars().take(60).collect(),
    }
}

/// Returns the first line of an error, because further lines may show parts of the document.
fn short(error: &impl ToString) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
