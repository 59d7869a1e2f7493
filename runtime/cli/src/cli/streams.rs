//! Results go to standard output, words for people to standard error; either may be closed.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind, Write};

use super::Exit;
use super::flags::Form;
use toolwright_core::printable::{json, lines};

/// Writes a result, in which nothing acts on a terminal, and a line break; an `Err` ends the command with its code. Who reads may have had
/// enough, as `head` has: that is no failure, and needs no words.
pub(super) fn print(result: impl Display, form: Form) -> Result<(), Exit> {
    let result = result.to_string();
    let line = match form {
        Form::Json => format!("{}\n", json(&result)),
        Form::Text => format!("{}\n", lines(&result)),
    };
    print_block(line.as_bytes())
}

/// Prints text that brings its own line breaks.
pub(super) fn print_block(text: &[u8]) -> Result<(), Exit> {
    check_written(output().and_then(|mut output| output.write_all(text)))
}

/// Standard output, after what tools have written to it, and past the one of the standard library, which calls it a success
/// that one which is not open for writing takes nothing.
fn output() -> io::Result<File> {
    let mut output = io::stdout();
    output.flush()?;
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&output).try_clone_to_owned()?;
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&output).try_clone_to_owned()?;
    Ok(File::from(owned))
}

/// What becomes of a command whose result was, or was not, written.
fn check_written(result: io::Result<()>) -> Result<(), Exit> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Exit::Success),
        Err(error) => {
            Err(complain(Exit::Failed, format!("the result could not be written: {error}")))
        }
    }
}

/// Prints what clap has to say: help to standard output, mistakes to standard error.
pub(super) fn print_message(message: &clap::Error) -> Result<(), Exit> {
    if !message.use_stderr() {
        return check_written(message.print().and_then(|()| io::stdout().flush()));
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
    // There is no other stream on which to say that it failed.
    let _ = writeln!(io::stderr(), "{what}: {}", lines(&words.to_string()));
}
