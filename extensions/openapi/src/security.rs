//! The authorization that an operation requires: its security schemes, and the choice of those that a request uses. The
//! functions are pure.

use crate::document::{Document, LocatedValue, described};
use crate::operation::{FoundOperation, Place, header_key};
use crate::refusal::Refusal;

/// A security scheme of a document, for which a request gets a credential.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SecurityScheme {
    /// The name of the scheme in the document.
    pub name: String,
    pub(crate) kind: SchemeKind,
}

/// The place of a credential in a request, or the reason why a scheme is not supported.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum SchemeKind {
    Header(String),
    Query(String),
    Cookie(String),
    Basic,
    Bearer,
    /// A scheme that this crate does not support, and the reason.
    Unknown(String),
}

/// The schemes that a request has to meet together. An empty requirement means no authorization.
pub(crate) type Requirement = Vec<SecurityScheme>;

/// Returns the supported requirements of an operation, one of which a request has to meet; empty if the operation has
/// none.
pub(crate) fn requirements(
    document: &Document,
    found: &FoundOperation<'_>,
) -> Result<Vec<Requirement>, Refusal> {
    let root = LocatedValue { value: &document.root, place: String::new() };
    let Some(list) = found.at.get("security").or_else(|| root.get("security")) else {
        return Ok(Vec::new());
    };
    let (mut requirements, mut unusable) = (Vec::new(), None);
    for requirement in list.items() {
        let names = requirement.entries().into_iter();
        let schemes = names.map(|(name, at)| scheme(document, name, &at.place));
        let schemes: Requirement = schemes.collect::<Result<_, _>>()?;
        match schemes.iter().find_map(|it| it.why_not().map(|why| (it, why))) {
            Some((scheme, why)) => {
                let reason =
                    format!("no request can carry the credential for `{}`: {why}", scheme.name);
                unusable = Some(Refusal::new(&requirement.place, reason));
            }
            None => requirements.push(schemes),
        }
    }
    match unusable {
        Some(refusal) if requirements.is_empty() => Err(refusal),
        _ => Ok(requirements),
    }
}

fn scheme(document: &Document, name: &str, place: &str) -> Result<SecurityScheme, Refusal> {
    let schemes = document.root.pointer("/components/securitySchemes");
    let Some(value) = schemes.and_then(|it| it.get(name)) else {
        let reason = format!("`{name}` is not one of the document's `securitySchemes`");
        return Err(Refusal::new(place, reason));
    };
    let place = format!("/components/securitySchemes/{name}");
    let at = document.follow(LocatedValue { value, place })?;
    let unknown = |what: &str| SchemeKind::Unknown(what.to_owned());
    let kind = match (at.text("type"), at.text("in"), at.text("name")) {
        (Some("apiKey"), Some("header"), Some(key)) => {
            match reqwest::header::HeaderName::try_from(key) {
                Ok(_) => SchemeKind::Header(key.to_owned()),
                Err(_) => unknown("its `name` is not a valid header name"),
            }
        }
        (Some("apiKey"), Some("query"), Some(key)) => SchemeKind::Query(key.to_owned()),
        (Some("apiKey"), Some("cookie"), Some(key)) => SchemeKind::Cookie(key.to_owned()),
        (Some("http"), _, _) => match at.text("scheme").unwrap_or_default().to_lowercase().as_str()
        {
            "basic" => SchemeKind::Basic,
            "bearer" => SchemeKind::Bearer,
            other => unknown(&format!("its HTTP scheme is `{other}`, expected basic or bearer")),
        },
        (Some("oauth2" | "openIdConnect"), _, _) => SchemeKind::Bearer,
        _ => unknown(&format!("its type is {}", described(at.value.get("type")))),
    };
    Ok(SecurityScheme { name: name.to_owned(), kind })
}

impl SecurityScheme {
    /// Returns whether a parameter has the place of the credential.
    pub(crate) fn is_in(&self, place: Place, name: &str) -> bool {
        match (&self.kind, place) {
            (SchemeKind::Header(key), Place::Header) => header_key(key) == header_key(name),
            (SchemeKind::Query(key), Place::Query) | (SchemeKind::Cookie(key), Place::Cookie) => {
                key == name
            }
            _ => false,
        }
    }

    /// Returns the key of the credential, if it is in a query or a cookie.
    pub(crate) fn key(&self) -> Option<&str> {
        match &self.kind {
            SchemeKind::Query(key) | SchemeKind::Cookie(key) => Some(key),
            _ => None,
        }
    }

    /// Returns the reason why no credential of this scheme can be sent; `None` if the scheme is supported.
    fn why_not(&self) -> Option<&str> {
        match &self.kind {
            SchemeKind::Unknown(why) => Some(why),
            _ => None,
        }
    }
}
