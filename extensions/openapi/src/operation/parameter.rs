//! One parameter of an operation: its place in the request, and the encoding of its value.

use serde_json::Value;

use crate::document::{LocatedValue, described};
use crate::refusal::Refusal;

/// Headers that concern the connection, the body or the authorization, which no argument may set.
const NOT_ARGUMENTS: [&str; 14] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Headers that make a server or a proxy treat the request as a different request, with a method, a path or a host that
/// policy has not checked.
const OTHER_REQUESTS: [&str; 11] = [
    "forwarded",
    "x-forwarded-host",
    "x-forwarded-method",
    "x-forwarded-uri",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-host",
    "x-original-method",
    "x-original-url",
    "x-rewrite-url",
];

#[derive(Debug, Clone)]
pub(crate) struct Parameter<'d> {
    pub(crate) at: LocatedValue<'d>,
    pub(crate) name: &'d str,
    pub(crate) place: Place,
    pub(crate) required: bool,
    pub(crate) style: Style,
    pub(crate) schema: Option<LocatedValue<'d>>,
}

/// The part of a request where a value is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
    Cookie,
}

impl Place {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }
}

/// The encoding of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// The value is encoded as JSON.
    Json,
    Simple {
        explode: bool,
    },
    Label {
        explode: bool,
    },
    Matrix {
        explode: bool,
    },
    /// The form style, in a query, a form or a cookie; `reserved` leaves harmless reserved characters unencoded.
    Form {
        explode: bool,
        reserved: bool,
    },
    /// The items of a list, separated by a percent-encoded space or bar.
    Delimited {
        by: &'static str,
    },
    /// Keys in brackets at every level, as in `a[b][c]=1`.
    Deep,
}

impl<'d> Parameter<'d> {
    /// Reads a parameter. Returns `None` for a header that cannot be an argument, such as `Accept` or `Authorization`.
    ///
    /// # Errors
    /// When the parameter is invalid, or is a required header that would change the meaning of the request.
    pub(super) fn read(at: LocatedValue<'d>) -> Result<Option<Self>, Refusal> {
        let Some(name) = at.text("name").filter(|it| !it.is_empty()) else {
            return Err(Refusal::new(at.place, "the parameter has no `name`"));
        };
        let place = match at.text("in") {
            Some("path") => Place::Path,
            Some("query") => Place::Query,
            Some("header") => Place::Header,
            Some("cookie") => Place::Cookie,
            _ => {
                let found = described(at.value.get("in"));
                let reason = format!(
                    "`in` of the parameter `{name}` is {found}, expected path, query, header or cookie"
                );
                return Err(Refusal::new(at.place, reason));
            }
        };
        let lower = header_key(name);
        if place == Place::Header
            && (NOT_ARGUMENTS.contains(&lower.as_str()) || lower.starts_with("proxy-"))
        {
            return Ok(None);
        }
        if place == Place::Header && OTHER_REQUESTS.contains(&lower.as_str()) {
            if at.says("required") {
                let reason = format!(
                    "the header `{name}` would change the meaning of the request, and cannot be an argument"
                );
                return Err(Refusal::new(at.place, reason));
            }
            return Ok(None);
        }
        if place == Place::Header && reqwest::header::HeaderName::try_from(name).is_err() {
            let reason = format!("`{name}` is not a valid header name");
            return Err(Refusal::new(at.place, reason));
        }
        let required = place == Place::Path || at.says("required");
        let (style, schema) = match at.get("content") {
            Some(content) => {
                let entries = content.entries();
                let Some((_, media)) = entries.into_iter().find(|(kind, _)| kind.contains("json"))
                else {
                    let reason = "its content is not JSON, the only supported media type";
                    return Err(Refusal::new(content.place, reason));
                };
                (Style::Json, media.get("schema"))
            }
            None => (style(&at, name, place)?, at.get("schema")),
        };
        Ok(Some(Self { at, name, place, required, style, schema }))
    }
}

/// Returns a header's name in the spelling by which names are compared. Servers of the CGI family do not distinguish
/// `_` and `-`.
pub(crate) fn header_key(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

fn style(at: &LocatedValue<'_>, name: &str, place: Place) -> Result<Style, Refusal> {
    let written = match at.value.get("style") {
        None | Some(Value::Null) => None,
        Some(value) => Some(value.as_str().unwrap_or_default()),
    };
    let explode = |otherwise| at.value.get("explode").and_then(Value::as_bool).unwrap_or(otherwise);
    Ok(match (place, written) {
        (Place::Path | Place::Header, None | Some("simple")) => {
            Style::Simple { explode: explode(false) }
        }
        (Place::Path, Some("label")) => Style::Label { explode: explode(false) },
        (Place::Path, Some("matrix")) => Style::Matrix { explode: explode(false) },
        (Place::Query | Place::Cookie, None | Some("form" | "cookie")) => {
            let reserved = place == Place::Query && at.says("allowReserved");
            Style::Form { explode: explode(true), reserved }
        }
        (Place::Query, Some("spaceDelimited")) if !explode(false) => Style::Delimited { by: "%20" },
        (Place::Query, Some("pipeDelimited")) if !explode(false) => Style::Delimited { by: "%7C" },
        (Place::Query, Some("spaceDelimited" | "pipeDelimited")) => {
            Style::Form { explode: true, reserved: false }
        }
        (Place::Query, Some("deepObject")) => Style::Deep,
        (_, Some(other)) => {
            let reason = format!(
                "the style `{other}` of the parameter `{name}` is not a style for a {}",
                place.name()
            );
            return Err(Refusal::new(&at.place, reason));
        }
    })
}

impl Style {
    /// Returns the style of a form field, by the document's `encoding` of the field.
    pub(crate) fn of_form(encoding: Option<&LocatedValue<'_>>) -> Option<Self> {
        let at = encoding?;
        let explode =
            |otherwise| at.value.get("explode").and_then(Value::as_bool).unwrap_or(otherwise);
        match at.text("style") {
            Some("deepObject") => Some(Self::Deep),
            Some("spaceDelimited") if !explode(false) => Some(Self::Delimited { by: "%20" }),
            Some("pipeDelimited") if !explode(false) => Some(Self::Delimited { by: "%7C" }),
            Some(_) => Some(Self::Form { explode: explode(true), reserved: false }),
            None if at.value.get("explode").is_some() => {
                Some(Self::Form { explode: explode(true), reserved: false })
            }
            None => None,
        }
    }
}
