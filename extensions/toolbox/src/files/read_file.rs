//! `read_file` reads lines of a text file.
//!
//! # What it does
//! It answers with the numbered lines, how many lines the file has, and how to get the rest.
//!
//! # What it may touch
//! It reads the file that `path` names.
//!
//! # What it refuses
//! Paths that lead out of the workspace; folders, devices, FIFOs and sockets; files that are binary, not in UTF-8 or larger
//! than 10 MiB; lines past the end.

use std::fmt::Write as _;

use toolwright::{ToolError, tool};

use super::notes::{counted, shortened};
use crate::Workspace;
use crate::workspace::{Ends, Name, decoded};

/// A longer line is cut, after so many characters.
const LONGEST_LINE: usize = 2000;

/// No more text than this is answered, in bytes.
const LARGEST_ANSWER: usize = 100_000;

/// Read a text file, whole or in part. Each line of the answer begins with its number and a tab, which are not in the file.
///
/// One answer has at most 100,000 bytes; a line of more than 2,000 characters is cut. The answer says what is left out and
/// at which `offset` it goes on.
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
) -> Result<String, ToolError> {
    let name = Name::parse(&path)?;
    let text = decoded(&name, workspace.read_named(&name)?)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    slice(&name, text, offset, limit)
}

/// The lines from `offset` on as they are answered; pure.
fn slice(name: &Name, text: &str, offset: usize, limit: usize) -> Result<String, ToolError> {
    // A caller of the function may say 0, which the tool's input cannot.
    let offset = offset.max(1);
    let total = text.lines().count();
    if total == 0 {
        return Ok(format!("`{name}` is empty"));
    }
    if offset > total {
        let lines = counted(total, "line", "lines");
        return Err(ToolError::invalid(format!(
            "`{name}` has {lines}, so no line has the number {offset}"
        )));
    }
    let end = total.min(offset.saturating_add(limit.saturating_sub(1)));
    let width = end.to_string().len();
    let (mut lines, mut last) = (String::new(), offset);
    for (number, line) in (offset..=end).zip(text.lines().skip(offset - 1)) {
        let line = shortened(line, LONGEST_LINE);
        if number > offset && lines.len() + line.len() > LARGEST_ANSWER {
            break;
        }
        last = number;
        // Writing to a text cannot fail.
        let _ = writeln!(lines, "{number:width$}\t{line}");
    }
    let mut answer = match (offset, last) {
        (1, last) if last == total => format!("`{name}`: {}", counted(total, "line", "lines")),
        (first, last) => format!("`{name}`: lines {first} to {last} of {total}"),
    };
    match Ends::of(text) {
        Ends::Lf => {}
        Ends::Crlf => answer.push_str(", which end with CR LF"),
        Ends::Mixed => answer.push_str(", some of which end with CR LF and some with LF"),
    }
    answer.push('\n');
    answer.push_str(&lines);
    if last < total {
        let rest = counted(total - last, "more line", "more lines");
        let _ = write!(answer, "[{rest}: go on with offset {}]", last + 1);
    } else if !text.ends_with('\n') {
        answer.push_str("[the last line has no line end]");
    } else {
        answer.pop();
    }
    Ok(answer)
}
