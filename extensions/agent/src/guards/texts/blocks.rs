//! Finds and replaces the texts of content blocks: their text, and the names, addresses and media types that models read
//! beside it. Pure.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolwright::Content;

use super::Map;
use super::strings::{mapped, mapped_json};

/// The text that replaces a block that cannot be changed in parts.
const REMOVED: &str = "[a guard removed this attachment]";

/// Lists the texts of a block that a model reads. A document of a text type counts as its decoded text. A media type is
/// listed only if it is more than a media type, for instance a sentence.
pub(in crate::guards) fn of_block<'b>(block: &'b Content<'_>) -> Vec<Cow<'b, str>> {
    let of_type = |media_type: &'b str| Some(media_type).filter(|it| !is_media_type(it));
    let (name, media_type, text) = match block {
        Content::Text(text) | Content::Json(text) => return vec![Cow::Borrowed(text)],
        Content::Resource { uri, media_type, text } => {
            (Some(&**uri), media_type.as_deref(), text.as_deref().map(Cow::Borrowed))
        }
        Content::Document { name, media_type, .. } => {
            (name.as_deref(), Some(&**media_type), block.decoded_text().map(Cow::Owned))
        }
        Content::Image { media_type, .. } | Content::Audio { media_type, .. } => {
            (None, Some(&**media_type), block.decoded_text().map(Cow::Owned))
        }
    };
    let labels = name.into_iter().chain(media_type.and_then(of_type));
    labels.map(Cow::Borrowed).chain(text).collect()
}

fn is_media_type(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_alphanumeric() || b"/.+-_;= ".contains(&it))
        && text.split(' ').count() <= 2
}

/// Maps the texts of blocks; `None` if none changes. Other blocks are unchanged.
pub(in crate::guards) fn blocks(
    blocks: &[Content<'_>],
    map: Map<'_>,
) -> Option<Vec<Content<'static>>> {
    let changed: Vec<_> = blocks.iter().map(|it| block(it, map)).collect();
    changed.iter().any(Option::is_some).then(|| {
        let pairs = changed.into_iter().zip(blocks);
        pairs.map(|(new, block)| new.unwrap_or_else(|| block.clone().into_owned())).collect()
    })
}

fn block(block: &Content<'_>, map: Map<'_>) -> Option<Content<'static>> {
    if let Content::Json(json) = block {
        let changed = mapped_json(json, map).map(Content::json);
        return changed.or_else(|| map(json).map(Content::text));
    }
    // Every text is mapped, because a guard may note what it finds.
    let is_found = of_block(block).iter().filter(|it| mapped(it, map).is_some()).count() > 0;
    is_found.then(|| changed(block, map))
}

/// Maps the texts of a block that has a text to map.
fn changed(block: &Content<'_>, map: Map<'_>) -> Content<'static> {
    let decoded = block.decoded_text().and_then(|it| mapped(&it, map));
    let decoded = decoded.map(|it| Cow::Owned(STANDARD.encode(it)));
    let new = |text: Cow<'static, str>| mapped(&text, map).map_or(text, Cow::Owned);
    let is_odd = |label: &str| !is_media_type(label) && mapped(label, map).is_some();
    match block.clone().into_owned() {
        Content::Text(text) | Content::Json(text) => Content::Text(new(text)),
        Content::Document { media_type, .. }
        | Content::Image { media_type, .. }
        | Content::Audio { media_type, .. }
        | Content::Resource { media_type: Some(media_type), .. }
            if is_odd(&media_type) =>
        {
            Content::text(REMOVED)
        }
        Content::Resource { uri, media_type, text } => {
            Content::Resource { uri: new(uri), media_type, text: text.map(new) }
        }
        Content::Document { name, media_type, data } => {
            Content::Document { name: name.map(new), media_type, data: decoded.unwrap_or(data) }
        }
        Content::Image { media_type, data } => {
            Content::Image { media_type, data: decoded.unwrap_or(data) }
        }
        Content::Audio { media_type, data } => Content::Audio { media_type, data },
    }
}
