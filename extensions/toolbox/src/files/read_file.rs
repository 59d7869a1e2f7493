//! `read_file` reads lines of a text file, a picture, or a PDF.
//!
//! # What it does
//! It answers with the numbered lines, how many lines the file has, the hash of its content, and how to get the rest. It
//! decodes text as UTF-8, as UTF-16 if there is a byte order mark, and else as Latin-1, which the answer then says. For a PNG,
//! JPEG, GIF or WebP file it answers with the picture, for a PDF with the document.
//!
//! # What it may touch
//! It reads the file that `path` names.
//!
//! # What it refuses
//! Paths that lead out of the workspace; folders, devices, FIFOs and sockets; other binary files, with their type; files
//! larger than 10 MiB, pictures larger than 3 MiB; lines past the end.

use std::fmt::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolwright::{Content, Output, ToolError, tool};

use super::notes::{count, shorten};
use crate::Workspace;
use crate::workspace::{Ends, Name, Text, content_hash, decode};

/// The most characters of a line that are shown.
const LONGEST_LINE: usize = 2000;

/// The most bytes of text in an answer.
const LARGEST_ANSWER: usize = 100_000;

/// The media type of documents that models accept.
const PDF: &str = "application/pdf";

/// The maximum size of a picture, in bytes: base64 makes it a third larger, and providers accept 5 MB.
const LARGEST_PICTURE: usize = 3 << 20;

/// Read a text file, whole or in part, or a picture. Each line of the answer begins with its number and a tab, which are not
/// in the file.
///
/// One answer has at most 100,000 bytes; a line of more than 2,000 characters is cut. The answer says what is left out and
/// at which `offset` it goes on. Its hash can be given to the tools that write, which then refuse a file that was changed
/// since.
#[tool(unlinked, group = "file", danger = safe, effect = read, reads(file = path), blocking)]
pub fn read_file(
    workspace: &Workspace,
    /// Path relative to the workspace.
    #[arg(alias = "file_path", example = "src/lib.rs", positional)]
    path: String,
    /// First line to read, counted from 1.
    #[arg(default = 1, minimum = 1)]
    offset: usize,
    /// How many lines to read at the most.
    #[arg(default = 2000, minimum = 1, maximum = 100_000)]
    limit: usize,
) -> Result<Output, ToolError> {
    let name = Name::parse(&path)?;
    let bytes = workspace.read_named(&name)?;
    if let Some(kind) = picture_kind(&bytes) {
        return picture(&name, &bytes, kind);
    }
    if is_pdf(&bytes) {
        return Ok(document(&name, &bytes));
    }
    let text = decode(&name, &bytes)?;
    Ok(Output::text(number_lines(&name, &text, &content_hash(&bytes), offset, limit)?))
}

/// Returns the media type of a picture that models accept. Checks the whole signature, because providers refuse each
/// request of a conversation that contains an invalid picture.
fn picture_kind(bytes: &[u8]) -> Option<&'static str> {
    let begins = |signature: &[u8]| bytes.starts_with(signature);
    if begins(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if begins(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if begins(b"GIF87a") || begins(b"GIF89a") {
        Some("image/gif")
    } else if begins(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

/// Returns whether a PDF begins here, after at most a byte order mark and white space.
fn is_pdf(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.trim_ascii_start().starts_with(b"%PDF-")
}

fn picture(name: &Name, bytes: &[u8], kind: &'static str) -> Result<Output, ToolError> {
    let size = bytes.len();
    if size > LARGEST_PICTURE {
        let message = format!(
            "`{name}` is a picture, {kind}, of {size} bytes, expected at most {LARGEST_PICTURE}"
        );
        return Err(ToolError::new("file_too_large", message));
    }
    let data = STANDARD.encode(bytes).into();
    let words = describe(name, bytes, kind);
    Ok(Output::text(words).with(Content::Image { media_type: kind.into(), data }))
}

fn document(name: &Name, bytes: &[u8]) -> Output {
    let data = STANDARD.encode(bytes).into();
    let called = Some(name.to_string().into());
    let document = Content::Document { name: called, media_type: PDF.into(), data };
    Output::text(describe(name, bytes, PDF)).with(document)
}

fn describe(name: &Name, bytes: &[u8], kind: &str) -> String {
    format!("`{name}`: {kind}, {} bytes; hash {}", bytes.len(), content_hash(bytes))
}

/// Formats the lines from `offset` on as an answer. Pure.
pub(crate) fn number_lines(
    name: &dyn fmt::Display,
    Text { text, encoding }: &Text,
    hash: &str,
    offset: usize,
    limit: usize,
) -> Result<String, ToolError> {
    // Callers of this function may pass 0, which the input of the tool cannot contain.
    let offset = offset.max(1);
    let total = text.lines().count();
    if total == 0 {
        return Ok(format!("`{name}` is empty; hash {hash}"));
    }
    if offset > total {
        let lines = count(total, "line", "lines");
        return Err(ToolError::invalid(format!(
            "`{name}` has {lines}, so no line has the number {offset}"
        )));
    }
    let end = total.min(offset.saturating_add(limit.saturating_sub(1)));
    let width = end.to_string().len();
    let (mut lines, mut last) = (String::new(), offset);
    for (number, line) in (offset..=end).zip(text.lines().skip(offset - 1)) {
        let line = shorten(line, LONGEST_LINE);
        if number > offset && lines.len() + line.len() > LARGEST_ANSWER {
            break;
        }
        last = number;
        // Writing to a `String` cannot fail.
        let _ = writeln!(lines, "{number:width$}\t{line}");
    }
    let mut answer = match (offset, last) {
        (1, last) if last == total => format!("`{name}`: {}", count(total, "line", "lines")),
        (first, last) => format!("`{name}`: lines {first} to {last} of {total}"),
    };
    match Ends::of(text) {
        Ends::Lf => {}
        Ends::Crlf => answer.push_str(", which end with CR LF"),
        Ends::Mixed => answer.push_str(", some of which end with CR LF and some with LF"),
    }
    if let Some(encoding) = encoding.described() {
        let _ = write!(answer, ", in {encoding}");
    }
    let _ = writeln!(answer, "; hash {hash}");
    answer.push_str(&lines);
    if last < total {
        let rest = count(total - last, "more line", "more lines");
        let _ = write!(answer, "[{rest}: go on with offset {}]", last + 1);
    } else if !text.ends_with('\n') {
        answer.push_str("[the last line has no line end]");
    } else {
        answer.pop();
    }
    Ok(answer)
}
