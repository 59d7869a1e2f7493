//! The body of a request as the document describes it: its media type and its encoding.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::document::{Document, LocatedValue};
use crate::operation::{FoundOperation, Style};
use crate::refusal::Refusal;

#[derive(Debug)]
pub(crate) struct Body<'d> {
    pub(crate) kind: BodyKind,
    pub(crate) schema: Option<LocatedValue<'d>>,
    pub(crate) required: bool,
    pub(crate) description: Option<&'d str>,
}

/// The encoding of a body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BodyKind {
    Json {
        media_type: String,
    },
    /// `application/x-www-form-urlencoded`, with the styles that the document names for fields.
    Form {
        styles: BTreeMap<String, Style>,
    },
    Multipart {
        parts: BTreeMap<String, Part>,
    },
    /// A text, which is sent unchanged.
    Text {
        media_type: String,
    },
    /// Bytes, which models write in base64.
    Binary {
        media_type: String,
    },
}

/// The encoding of a field of a multipart body, if the field is not plain text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Part {
    /// Whether the value of the field is base64 of bytes.
    pub(crate) is_binary: bool,
    pub(crate) media_type: Option<String>,
}

impl<'d> Body<'d> {
    /// Reads the body of an operation, in the media type that is simplest to write.
    pub(crate) fn read(
        document: &'d Document,
        found: &FoundOperation<'d>,
    ) -> Result<Option<Self>, Refusal> {
        let Some(at) = found.at.get("requestBody").filter(|it| !it.value.is_null()) else {
            return Ok(None);
        };
        let at = document.follow(at)?;
        let content = at.get("content").map(|it| it.entries()).unwrap_or_default();
        let mut ranked: Vec<_> = content
            .iter()
            .filter_map(|(media_type, media)| Some((rank(media_type)?, *media_type, media)))
            .collect();
        ranked.sort_by_key(|(rank, media_type, _)| (*rank, media_type.len()));
        let Some((_, media_type, media)) = ranked.first() else {
            let found: Vec<&str> = content.iter().map(|(media_type, _)| *media_type).collect();
            let reason = format!(
                "the body is of `{}`, expected JSON, a form, text or bytes",
                found.join("`, `")
            );
            return Err(Refusal::new(at.place, reason));
        };
        let schema = media.get("schema");
        let kind = BodyKind::of(document, media_type, media, schema.as_ref())?;
        let description = at.text("description");
        Ok(Some(Self { kind, schema, required: at.says("required"), description }))
    }
}

/// Returns the media type in lower case, without its parameters.
fn bare(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns the rank of a media type, for a body that allows several: the lowest rank is preferred. Returns `None` if
/// bodies of this type cannot be sent.
fn rank(media_type: &str) -> Option<u8> {
    let bare = bare(media_type);
    Some(match bare.as_str() {
        "application/json" => 0,
        it if it.ends_with("+json") || it == "text/json" => 1,
        "*/*" | "application/*" => 2,
        "application/x-www-form-urlencoded" => 3,
        "multipart/form-data" => 4,
        it if it.starts_with("text/") => 5,
        it if it.ends_with("/xml") || it.ends_with("+xml") || it.ends_with("yaml") => 6,
        it if it.contains('/') && !it.starts_with("multipart/") => 7,
        _ => return None,
    })
}

impl BodyKind {
    fn of(
        document: &Document,
        media_type: &str,
        media: &LocatedValue<'_>,
        schema: Option<&LocatedValue<'_>>,
    ) -> Result<Self, Refusal> {
        let media_type = match media_type.trim() {
            it if it.contains('*') && it.ends_with("+json")
                || it.starts_with('*')
                || it == "application/*" =>
            {
                "application/json"
            }
            it => it,
        };
        if reqwest::header::HeaderValue::from_str(media_type).is_err() {
            return Err(Refusal::new(&media.place, "it is not a valid media type"));
        }
        let own = || media_type.to_owned();
        Ok(match rank(media_type) {
            Some(0..=2) => Self::Json { media_type: own() },
            Some(3) => Self::Form { styles: styles(media) },
            Some(4) => Self::Multipart { parts: parts(document, media, schema)? },
            Some(5 | 6) => Self::Text { media_type: own() },
            _ => {
                let is_object = match schema {
                    Some(schema) => {
                        document.follow(schema.clone())?.value.get("properties").is_some()
                    }
                    None => false,
                };
                if is_object {
                    let reason = format!(
                        "fields cannot be written as `{media_type}`, expected JSON or a form"
                    );
                    return Err(Refusal::new(&media.place, reason));
                }
                Self::Binary { media_type: own() }
            }
        })
    }

    /// Returns whether the body consists of fields.
    pub(crate) fn has_fields(&self) -> bool {
        matches!(self, Self::Json { .. } | Self::Form { .. } | Self::Multipart { .. })
    }

    /// Describes the encoding of the whole body to models; empty if the schema says enough.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Json { .. } | Self::Form { .. } | Self::Multipart { .. } => String::new(),
            Self::Text { media_type } => format!("(The whole body, sent as {media_type}.)"),
            Self::Binary { media_type } => {
                format!("(The whole body as base64, sent as {media_type}.)")
            }
        }
    }

    /// Changes the schema of a binary field to base64, and says this in the field's description.
    pub(crate) fn adjust(&self, name: &str, schema: &LocatedValue<'_>, copied: &mut Value) {
        let Self::Multipart { parts } = self else { return };
        if !parts.get(name).is_some_and(|it| it.is_binary) {
            return;
        }
        let said = schema.text("description").unwrap_or_default();
        let item = json!({"type": "string", "contentEncoding": "base64"});
        let words = format!("{said} (Base64.)");
        let kind = match schema.text("type") {
            Some("array") => json!({"type": "array", "items": item}),
            _ => item,
        };
        *copied = kind;
        copied["description"] = json!(words.trim());
    }
}

fn styles(media: &LocatedValue<'_>) -> BTreeMap<String, Style> {
    let encodings = media.get("encoding").map(|it| it.entries()).unwrap_or_default();
    let styles = encodings.into_iter();
    styles.filter_map(|(name, at)| Some((name.to_owned(), Style::of_form(Some(&at))?))).collect()
}

/// Returns the encodings of the fields that are not plain text.
fn parts(
    document: &Document,
    media: &LocatedValue<'_>,
    schema: Option<&LocatedValue<'_>>,
) -> Result<BTreeMap<String, Part>, Refusal> {
    let mut parts: BTreeMap<String, Part> = BTreeMap::new();
    if let Some(schema) = schema {
        let schema = document.follow(schema.clone())?;
        for (name, property) in schema.get("properties").map(|it| it.entries()).unwrap_or_default()
        {
            let property = document.follow(property)?;
            let item = match property.get("items") {
                Some(items) => document.follow(items)?,
                None => property,
            };
            let is_binary = item.text("format") == Some("binary")
                || item.value.get("contentMediaType").is_some()
                    && item.value.get("contentEncoding").is_none();
            if is_binary {
                parts.entry(name.to_owned()).or_default().is_binary = true;
            }
        }
    }
    for (name, encoding) in media.get("encoding").map(|it| it.entries()).unwrap_or_default() {
        let first = encoding.text("contentType").and_then(|it| it.split(',').next());
        if let Some(media_type) = first.map(str::trim).filter(|it| !it.contains('*')) {
            parts.entry(name.to_owned()).or_default().media_type = Some(media_type.to_owned());
        }
    }
    Ok(parts)
}
