//! What happens, told on standard output, a line each.

use std::fmt::Arguments;
use std::io::Write as _;

/// A line on standard output, which may be closed.
pub fn say(line: Arguments<'_>) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
