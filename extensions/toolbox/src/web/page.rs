//! Converts the bytes of a page to the text that a model gets. Pure.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use toolwright::ToolError;

use super::client::Page;
use super::failure;
use super::html;

/// How many bytes at the beginning of a page are searched for a declaration of the encoding.
const DECLARED_WITHIN: usize = 1024;

/// What of a page is answered.
#[toolwright::data]
#[serde(rename_all = "snake_case")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Markdown, with headings, lists, tables, code and links.
    #[default]
    Markdown,
    /// The words alone.
    Text,
    /// The links, one a line.
    Links,
}

/// Returns the text of a page.
pub(super) fn text(page: &Page, mode: Mode) -> Result<String, ToolError> {
    let media_type = page.kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_html = match media_type.as_str() {
        "text/html" | "application/xhtml+xml" => true,
        "" => page.body.iter().find(|it| !it.is_ascii_whitespace()) == Some(&b'<'),
        _ => false,
    };
    let is_text = is_html
        || matches!(media_type.split_once('/'), Some(("text", _)))
        || matches!(
            media_type.as_str(),
            "" | "application/json"
                | "application/xml"
                | "application/javascript"
                | "application/toml"
                | "application/yaml"
        )
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml");
    if !is_text || (!is_html && page.body.iter().take(8192).any(|it| *it == 0)) {
        let kind = if media_type.is_empty() { "a binary file" } else { &media_type };
        let host = page.url.host_str().unwrap_or_default();
        let what = format!("the answer of `{host}` is not text");
        return Err(failure::of_words("no_text", &page.url, &what, kind));
    }
    let text = decode(page, is_html);
    Ok(match (is_html, mode) {
        (true, Mode::Markdown) => html::markdown(&text, &page.url),
        (true, Mode::Text) => html::words(&text),
        (true, Mode::Links) => html::links(&text, &page.url),
        (false, Mode::Links) => String::new(),
        (false, _) => text,
    })
}

/// Decodes a page by its byte order mark, its `content-type`, or its own declaration, in this order. A page without any
/// of these is decoded as UTF-8 if it is valid UTF-8, and else as windows-1252, as browsers do.
fn decode(page: &Page, is_html: bool) -> String {
    let label = |text: &str| {
        let (_, rest) = text.split_once("charset")?;
        let rest = rest.trim_start().strip_prefix('=')?.trim_start();
        let rest = rest.trim_start_matches(['"', '\'']);
        let end = rest.find(['"', '\'', ';', ' ', '/', '>']).unwrap_or(rest.len());
        Encoding::for_label(&rest.as_bytes()[..end])
    };
    let head = &page.body[..page.body.len().min(DECLARED_WITHIN)];
    let declared = || {
        let encoding = label(&String::from_utf8_lossy(head).to_ascii_lowercase());
        // A declaration that can be read as ASCII is not UTF-16; browsers then use UTF-8.
        let is_ascii = |it: &'static Encoding| it.is_ascii_compatible();
        encoding.filter(|_| is_html).map(|it| if is_ascii(it) { it } else { UTF_8 })
    };
    let encoding = Encoding::for_bom(&page.body)
        .map(|(encoding, _)| encoding)
        .or_else(|| label(&page.kind.to_ascii_lowercase()))
        .or_else(declared);
    let is_utf_8 = || {
        // The part of a page that was read may end in the middle of a character.
        let body = std::str::from_utf8(&page.body);
        body.is_ok() || body.is_err_and(|error| page.is_cut && error.error_len().is_none())
    };
    let encoding = encoding.unwrap_or_else(|| if is_utf_8() { UTF_8 } else { WINDOWS_1252 });
    encoding.decode(&page.body).0.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(kind: &str, body: &[u8]) -> Page {
        let url = reqwest::Url::parse("https://a.example/b/").expect("an address");
        Page { url, kind: kind.to_owned(), body: body.to_vec(), is_cut: false }
    }

    #[test]
    fn a_page_is_read_in_the_encoding_that_it_has() {
        let text = |kind: &str, body: &[u8]| text(&page(kind, body), Mode::Text).expect(kind);
        assert_eq!(text("text/html; charset=ISO-8859-1", b"<p>Gr\xfc\xdfe"), "Grüße");
        assert_eq!(text("text/html", b"<meta charset='windows-1251'><p>\xcf\xf0"), "Пр");
        assert_eq!(text("text/html", "<p>Grüße".as_bytes()), "Grüße");
        assert_eq!(text("text/html", b"<p>Gr\xfc\xdfe"), "Grüße");
        assert_eq!(text("text/html", "<meta charset=utf-16><p>Grüße".as_bytes()), "Grüße");
        assert_eq!(text("text/plain", b"\xef\xbb\xbfa"), "a");
        assert_eq!(text("", b" <html><p>a"), "a");
        assert_eq!(text("text/html; charset=utf-16le", b"<\0p\0>\0a\0"), "a");
    }

    #[test]
    fn what_is_no_text_is_refused_by_its_kind() {
        for (kind, body) in
            [("image/png", b"\x89PNG".as_slice()), ("text/plain", b"a\0b"), ("", b"\x7fELF\0")]
        {
            assert_eq!(text(&page(kind, body), Mode::Markdown).expect_err(kind).kind(), "no_text");
        }
        assert_eq!(text(&page("application/ld+json", b"{}"), Mode::Markdown).expect("text"), "{}");
    }
}
