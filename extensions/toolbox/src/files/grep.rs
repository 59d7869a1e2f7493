//! `grep` searches the contents of files.
//!
//! # What it does
//! It answers with the lines that match a regular expression in ripgrep's format: `path:line:text`, and `path-line-text` for
//! lines around them. It can answer with only the files instead, or with the number of lines in each. If there are more results
//! than the limit, it says how many. The text is the one that `read_file` shows, also for files in UTF-16 and Latin-1.
//!
//! # What it may touch
//! It reads the files below `path`, where it follows no links. It leaves out binary files, and files whose names
//! indicate keys or secrets; the answer gives the number of files with such names. It reads hidden files, and those
//! that `.gitignore` names, only with `include_ignored`.
//!
//! # What it refuses
//! Paths that lead out of the workspace; devices, FIFOs and sockets; invalid regular expressions, and those that are too large.

mod gathered;
mod reader;
mod secret;
mod sink;

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use toolwright::{ToolContext, ToolError, data, tool};

use super::glob::compiled_name;
use super::notes::{count, lock, unreadable};
use crate::Workspace;
use crate::workspace::{Encoding, LARGEST, ListedEntry, Name, Text, Walk, decode};
use gathered::GrepResults;
use reader::CancellableReader;
pub use secret::is_secret;
use sink::Lines;

/// The memory limit for a compiled regular expression: 10 MiB.
const LARGEST_PATTERN: usize = 10 << 20;

/// A file with a longer line, in bytes, is reported as unreadable: 32 MiB.
const LONGEST_SEARCHED: usize = 32 << 20;

/// What [`grep`] answers with.
#[data]
#[serde(rename_all = "snake_case")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrepMode {
    /// The lines that match, and the lines around them.
    #[default]
    Content,
    /// The files that have such lines.
    Files,
    /// The files, and how many such lines each has.
    Count,
}

/// Search the contents of files with a regular expression. Hidden files and those that `.gitignore` names are left out, and
/// so are binary files and those whose names say that they hold keys or secrets. Lines of more than 500 characters are cut.
#[tool(unlinked, group = "file", danger = safe, effect = read, reads(file = path), blocking)]
#[expect(clippy::too_many_arguments, reason = "each is a key of the input, which a model reads")]
pub fn grep(
    workspace: &Workspace,
    context: &ToolContext,
    /// The regular expression, in the syntax of Rust and ripgrep; it matches within one line.
    #[arg(length = 1..=2000, example = "fn \\w+_file\\(", positional)]
    pattern: String,
    /// File or folder to search, relative to the workspace; the workspace itself when absent.
    #[arg(default = ".")]
    path: String,
    /// Pattern of the files to search, such as `*.{ts,tsx}`: of their names, or of their paths below `path` where it has a `/`.
    #[arg(length = 1..=1000)]
    glob: Option<String>,
    /// Whether upper and lower case are the same.
    #[arg(default = false)]
    ignore_case: bool,
    /// Whether the pattern is taken as plain text.
    #[arg(default = false)]
    literal: bool,
    /// What to answer with.
    #[arg(default)]
    mode: GrepMode,
    /// How many lines to show before and after each line that matches.
    #[arg(default = 0, maximum = 50)]
    context_lines: usize,
    /// Whether hidden files and those that `.gitignore` names are searched as well.
    #[arg(default = false)]
    include_ignored: bool,
    /// How many lines that match, or files, to answer at the most.
    #[arg(default = 100, minimum = 1, maximum = 10_000)]
    limit: usize,
) -> Result<String, ToolError> {
    let matcher = expression(&pattern, ignore_case, literal)?;
    let wanted = glob.as_deref().map(compiled_name).transpose()?;
    let start = Name::parse(&path)?;
    let is_folder = workspace.is_folder(&start)?;
    if !is_folder {
        workspace.open_named(&start)?;
    }
    // If the path leads through links, check the names in the target's path as well.
    let real = workspace.real_name(&start).filter(|it| it != Path::new(start.as_str()));
    let hides = |found: &ListedEntry| {
        let behind = match (&real, is_folder) {
            (None, _) => return is_secret(found.name.as_str()),
            (Some(real), true) => real.join(&found.relative),
            (Some(real), false) => real.clone(),
        };
        is_secret(found.name.as_str()) || is_secret(&behind.to_string_lossy())
    };
    let around = if mode == GrepMode::Content { context_lines } else { 0 };
    let gathered = Mutex::new(GrepResults::new(mode, limit));
    let walk = Walk { workspace, context, include_ignored, depth: None };
    let missed = walk.files_at_once(&start, || {
        let (wanted, gathered, hides, start) = (&wanted, &gathered, &hides, &start);
        let (matcher, mut searcher) = (matcher.clone(), searcher(around));
        move |found: ListedEntry| {
            if wanted.as_ref().is_some_and(|it| !it.is_match(&found.relative)) {
                return;
            }
            if hides(&found) {
                lock(gathered).secrets += 1;
                return;
            }
            // The file may have been replaced since it was listed, but it is opened within the workspace in any case.
            let opened = match is_folder {
                true => workspace.open_listed(start, &found.relative).ok(),
                false => workspace.open_named(&found.name).ok(),
            };
            let mut sink = Lines::new(&found.name, mode, limit);
            let readable = opened.and_then(|file| {
                let file = Box::new(CancellableReader { context: context.clone(), file });
                as_read(&found.name, file).ok()
            });
            let searched = readable.map(|it| searcher.search_reader(&matcher, it, &mut sink));
            match searched {
                Some(Ok(())) => {
                    if let Some(count) = sink.count() {
                        let shown = sink.into_shown();
                        lock(gathered).add(&found.name, count, shown);
                    }
                }
                Some(Err(_)) | None => lock(gathered).unread += 1,
            }
        }
    })?;
    let gathered = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (left_out, secrets, unread) = (gathered.left_out(), gathered.secrets, gathered.unread);
    let mut lines = gathered.into_lines();
    if lines.is_empty() {
        lines.push(format!("no line matches in `{start}`"));
    }
    if left_out > 0 {
        let left_out = match mode {
            GrepMode::Content => count(left_out, "more line matches", "more lines match"),
            _ => count(left_out, "more file has", "more files have") + " lines that match",
        };
        lines.push(format!("[{left_out}: narrow the pattern, `path` or `glob`, or raise `limit`]"));
    }
    if secrets > 0 {
        let secrets = count(secrets, "file was", "files were");
        lines.push(format!(
            "[{secrets} not searched, because of names that say that they hold keys or secrets]"
        ));
    }
    lines.extend(unreadable(missed + unread));
    Ok(lines.join("\n"))
}

/// Returns the bytes to be searched. The searcher does not support Latin-1, so a file in Latin-1 is decoded as in
/// `read_file`.
fn as_read(name: &Name, mut file: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut begin = Vec::new();
    file.by_ref().take(LARGEST + 1).read_to_end(&mut begin)?;
    // `read_file` refuses larger files, so search their bytes unchanged.
    if begin.len() as u64 <= LARGEST
        && std::str::from_utf8(&begin).is_err()
        && let Ok(Text { text, encoding: Encoding::Latin1 }) = decode(name, &begin)
    {
        return Ok(Box::new(Cursor::new(text.into_bytes())));
    }
    Ok(Box::new(Cursor::new(begin).chain(file)))
}

fn searcher(around: usize) -> Searcher {
    SearcherBuilder::new()
        // With this line terminator, `$` also matches before CR LF.
        .line_terminator(LineTerminator::crlf())
        .binary_detection(BinaryDetection::quit(0))
        .before_context(around)
        .after_context(around)
        .heap_limit(Some(LONGEST_SEARCHED))
        .build()
}

fn expression(pattern: &str, ignore_case: bool, literal: bool) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(ignore_case)
        .fixed_strings(literal)
        .multi_line(true)
        .crlf(true)
        .size_limit(LARGEST_PATTERN)
        .dfa_size_limit(LARGEST_PATTERN);
    builder.build(pattern).map_err(|error| {
        // The last line of the message is the reason; the lines before it show the pattern.
        let words = error.to_string();
        let reason = words.lines().last().unwrap_or_default();
        let reason = reason.trim().trim_start_matches("error: ");
        ToolError::invalid(format!("`pattern` is not a supported regular expression: {reason}"))
            .hint("correct it, or set `literal` to search for it as plain text")
    })
}

#[cfg(test)]
mod tests {
    use toolwright::ToolContext;

    use super::{GrepMode, grep};
    use crate::Workspace;

    #[test]
    fn a_cancelled_search_of_one_file_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::open(folder.path()).expect("it is there");
        workspace.write("log", b"text\n").expect("a file");
        let context = ToolContext::test();
        let search = || {
            let (pattern, path) = ("text".to_owned(), "log".to_owned());
            let mode = GrepMode::Content;
            grep(&workspace, &context, pattern, path, None, false, false, mode, 0, false, 9)
        };
        assert_eq!(search().expect("it is not cancelled"), "log:1:text");
        context.ended().cancel();
        assert_eq!(search().expect_err("it is cancelled").kind(), "cancelled");
    }
}
