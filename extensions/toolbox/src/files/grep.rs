//! `grep` searches the contents of files.
//!
//! # What it does
//! It answers with the lines that match a regular expression as ripgrep prints them, `path:line:text`, and `path-line-text`
//! for lines around them; or with the files alone, or with the number of lines in each. When there is more than the limit,
//! it says how much.
//!
//! # What it may touch
//! It reads the files below `path`. Links are not followed. Left out are hidden files and those that `.gitignore` names,
//! unless they are asked for, binary files, and files whose names say that they hold keys or secrets; the answer says how
//! many of these.
//!
//! # What it refuses
//! Paths that lead out of the workspace; what is no regular expression, or one that is too large.

mod secret;
mod sink;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, SearcherBuilder};
use toolwright::{ToolContext, ToolError, data, tool};

use super::glob::compiled;
use super::notes::{counted, unreadable};
use crate::Workspace;
use crate::workspace::{Name, Walk};
pub use secret::is_secret;
use sink::Lines;

/// A regular expression may take so much memory when it is compiled: 10 MiB.
const LARGEST_PATTERN: usize = 10 << 20;

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
    let wanted = glob.as_deref().map(|glob| match glob.contains('/') {
        true => compiled("glob", glob),
        false => compiled("glob", &format!("**/{glob}")),
    });
    let wanted = wanted.transpose()?;
    let start = Name::parse(&path)?;
    let shown_around = if mode == GrepMode::Content { context_lines } else { 0 };
    let mut searcher = SearcherBuilder::new()
        // `$` stands before CR LF as well, as the expression is told.
        .line_terminator(LineTerminator::crlf())
        .binary_detection(BinaryDetection::quit(0))
        .before_context(shown_around)
        .after_context(shown_around)
        .build();
    let (mut lines, mut matched, mut files, mut secrets, mut unread) = (Vec::new(), 0, 0, 0, 0);
    let walk = Walk { workspace, context, include_ignored, depth: None };
    let missed = walk.each_of(&start, |found| {
        let is_wanted = wanted.as_ref().is_none_or(|it| it.is_match(&found.relative));
        if !found.metadata.is_file() || !is_wanted {
            return Ok(());
        }
        if is_secret(found.name.as_str()) {
            secrets += 1;
            return Ok(());
        }
        // What it is now: it may be another than the one that was listed, and is one inside all the same.
        let Ok(file) = workspace.open_named(&found.name) else {
            unread += 1;
            return Ok(());
        };
        let left = limit.saturating_sub(if mode == GrepMode::Content { matched } else { files });
        let mut sink = Lines::new(&found.name, mode, left);
        if searcher.search_file(&matcher, &file.into_std(), &mut sink).is_err() {
            unread += 1;
        } else if let Some(count) = sink.count() {
            matched += count;
            files += 1;
            lines.append(&mut sink.into_shown());
        }
        Ok(())
    })?;
    let left_out = match mode {
        GrepMode::Content => matched.saturating_sub(limit),
        GrepMode::Files | GrepMode::Count => files.saturating_sub(limit),
    };
    if matched == 0 {
        lines.push(format!("no line matches in `{start}`"));
    }
    if left_out > 0 {
        let left_out = match mode {
            GrepMode::Content => counted(left_out, "more line matches", "more lines match"),
            _ => counted(left_out, "more file has", "more files have") + " lines that match",
        };
        lines.push(format!("[{left_out}: narrow the pattern, `path` or `glob`, or raise `limit`]"));
    }
    if secrets > 0 {
        let secrets = counted(secrets, "file was", "files were");
        lines.push(format!(
            "[{secrets} not searched, because of names that say that they hold keys or secrets]"
        ));
    }
    lines.extend(unreadable(missed + unread));
    Ok(lines.join("\n"))
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
        // The last line is the reason; those before it show the pattern.
        let words = error.to_string();
        let reason = words.lines().last().unwrap_or_default();
        let reason = reason.trim().trim_start_matches("error: ");
        ToolError::invalid(format!(
            "`pattern` is no regular expression that can be searched for: {reason}"
        ))
        .hint("correct it, or set `literal` to search for it as plain text")
    })
}
