//! Results go to standard output, words for people to standard error; either may be closed.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

use super::Exit;
use super::flags::Form;
use toolwright_core::printable::{json, lines};

/// Writes a result, in which nothing acts on a terminal, and a line break; an `Err` ends the command with its code. Who reads may have had
/// enough, as `head` has: that is no failure, and needs no words.
pub(super) fn print(result: impl Display, form: Form) -> Result<(), Exit> {
    let result = result.to_string();
    written(match form {
        Form::Json => writeln!(io::stdout(), "{}", json(&result)),
        Form::Text => writeln!(io::stdout(), "{}", lines(&result)),
    })
}

/// Prints text that brings its own line breaks.
pub(super) fn print_block(text: &[u8]) -> Result<(), Exit> {
    written(io::stdout().write_all(text))
}

/// What becomes of a command whose result was, or was not, written.
fn written(result: io::Result<()>) -> Result<(), Exit> {
    match result.and_then(|()| io::stdout().flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Exit::Success),
        Err(error) => {
            Err(complain(Exit::Failed, format!("the result could not be written: {error}")))
        }
    }
}

/// Prints what clap has to say: help to standard output, mistakes to standard error.
pub(super) fn said(message: &clap::Error) -> Result<(), Exit> {
    if !message.use_stderr() {
        return written(message.print());
    }
    let _ = message.print();
    Err(Exit::Usage)
}

/// Says on standard error why a command ended.
pub(super) fn complain(exit: Exit, words: impl Display) -> Exit {
    tell("error", words);
    exit
}

/// A line on standard error.
pub(super) fn tell(what: &str, words: impl Display) {
    // Nobody is left who could be told that it failed.
    let _ = writeln!(io::stderr(), "{what}: {}", lines(&words.to_string()));
}
