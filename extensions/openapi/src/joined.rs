//! References to other documents, which the application has read. Each such document is embedded in the main document,
//! and references to it are rewritten to its place there. The functions are pure: nothing is fetched.

use reqwest::Url;
use serde_json::{Map, Value};
use toolwright::unstable::foreign::reference;

use crate::document::LoadError;

/// The member of the main document that holds the other documents, each under its URI.
pub(crate) const MEMBER: &str = "x-toolwright-documents";

/// The URI of the main document, against which relative references are resolved. A document that was added with a
/// relative URI gets a URI below this one.
const MAIN: &str = "document:///";

/// Embeds a document with this URI in the main document, and rewrites every reference to it.
///
/// # Errors
/// When the URI is invalid, is empty, has a fragment, or was added before.
pub(crate) fn add_document(root: &mut Value, uri: &str, mut added: Value) -> Result<(), LoadError> {
    let refused = |why: String| LoadError::DocumentUri { uri: uri.to_owned(), why };
    let main = main().map_err(refused)?;
    let location = main.join(uri).map_err(|why| refused(why.to_string()))?;
    if location.fragment().is_some() {
        return Err(refused("it has a fragment, expected the URI of a whole document".to_owned()));
    }
    if location.as_str() == MAIN {
        return Err(refused("it is empty, expected the part of a reference before `#`".to_owned()));
    }
    rewrite(&mut added, &location, &Target::Every { own: &location, root });
    rewrite(root, &main, &Target::One(&location));
    let Some(members) = root.as_object_mut() else { return Ok(()) };
    let documents = members.entry(MEMBER).or_insert_with(|| Value::Object(Map::new()));
    let Some(documents) = documents.as_object_mut() else { return Ok(()) };
    if documents.contains_key(location.as_str()) {
        return Err(refused("a document was added under it before".to_owned()));
    }
    documents.insert(location.into(), added);
    Ok(())
}

/// Formats a reference as its author wrote it: without the URI of the main document, which this module adds to relative
/// references.
pub(crate) fn shown_reference(reference: &str) -> &str {
    reference.strip_prefix(MAIN).unwrap_or(reference)
}

fn main() -> Result<Url, String> {
    Url::parse(MAIN).map_err(|why| why.to_string())
}

/// The references that are rewritten.
enum Target<'a> {
    /// References to the document with this URI, in the main document and in documents that were added before.
    One(&'a Url),
    /// All references in a document that is being added. References to this document and to documents that were added
    /// before lead to their places, and all others become absolute.
    Every { own: &'a Url, root: &'a Value },
}

impl Target<'_> {
    /// Returns the reference that replaces a reference to `fragment` in `document`; `None` if the reference is not
    /// rewritten.
    fn rewritten(&self, document: &Url, fragment: &str) -> Option<String> {
        let is_there = match self {
            Self::One(added) => document == *added,
            Self::Every { own, root } => {
                document == *own
                    || root.get(MEMBER).and_then(|it| it.get(document.as_str())).is_some()
            }
        };
        let is_place = fragment.is_empty() || fragment.starts_with('/');
        match self {
            _ if is_there && is_place => Some(format!("{}{fragment}", place(document))),
            Self::Every { .. } if document.as_str() == MAIN => Some(format!("#{fragment}")),
            Self::Every { .. } if fragment.is_empty() => Some(document.to_string()),
            Self::Every { .. } => Some(format!("{document}#{fragment}")),
            Self::One(_) => None,
        }
    }
}

/// Returns the place of a document within the main document, as a reference.
fn place(document: &Url) -> String {
    let key = document.as_str().replace('%', "%25").replace('~', "~0").replace('/', "~1");
    format!("#/{MEMBER}/{key}")
}

/// Rewrites the references below a value. `base` is the URI of the document that contains the value.
fn rewrite(value: &mut Value, base: &Url, target: &Target<'_>) {
    if let Some(written) = reference::of(value).and_then(|it| rewritten(it, base, target)) {
        value["$ref"] = Value::String(written);
    }
    match value {
        Value::Object(members) => members.values_mut().for_each(|it| rewrite(it, base, target)),
        Value::Array(items) => items.iter_mut().for_each(|it| rewrite(it, base, target)),
        _ => {}
    }
}

fn rewritten(reference: &str, base: &Url, target: &Target<'_>) -> Option<String> {
    if matches!(target, Target::One(_)) && reference.starts_with('#') {
        return None;
    }
    let mut document = base.join(reference).ok()?;
    let fragment = document.fragment().unwrap_or_default().to_owned();
    document.set_fragment(None);
    target.rewritten(&document, &fragment)
}
