//! Writes results to standard output and messages for people to standard error; either may be closed.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind, Write};

use super::Exit;
use super::flags::Form;
use toolwright_core::printable::{json, lines};

/// Writes a result and a line break, with characters escaped that would act on a terminal. An `Err` ends the command
/// with its exit code. If the reader has stopped reading, as `head` does, the exit code is 0 and no message is printed.
pub(super) fn print(result: impl Display, form: Form) -> Result<(), Exit> {
    let result = result.to_string();
    let line = match form {
        Form::Json => format!("{}\n", json(&result)),
        Form::Text => format!("{}\n", lines(&result)),
    };
    print_block(line.as_bytes())
}

/// Prints a text that already contains its line breaks.
pub(super) fn print_block(text: &[u8]) -> Result<(), Exit> {
    check_written(output().and_then(|mut output| output.write_all(text)))
}

/// Opens standard output directly, after flushing what tools have written to it. [`io::stdout`] would report success
/// even if the stream is not open for writing.
fn output() -> io::Result<File> {
    let mut output = io::stdout();
    output.flush()?;
    #[cfg(unix)]
    let owned = std::os::fd::AsFd::as_fd(&output).try_clone_to_owned()?;
    #[cfg(windows)]
    let owned = std::os::windows::io::AsHandle::as_handle(&output).try_clone_to_owned()?;
    Ok(File::from(owned))
}

/// Converts the result of writing to the result of the command.
fn check_written(result: io::Result<()>) -> Result<(), Exit> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Exit::Success),
        Err(error) => {
            Err(complain(Exit::Failed, format!("the result could not be written: {error}")))
        }
    }
}

/// Prints clap's message: help to standard output, errors to standard error.
pub(super) fn print_message(message: &clap::Error) -> Result<(), Exit> {
    if !message.use_stderr() {
        return check_written(message.print().and_then(|()| io::stdout().flush()));
    }
    let _ = message.print();
    Err(Exit::Usage)
}

/// Reports on standard error why a command ended.
pub(super) fn complain(exit: Exit, words: impl Display) -> Exit {
    tell("error", words);
    exit
}

/// Writes a line to standard error.
pub(super) fn tell(what: &str, words: impl Display) {
    // The error stream itself failed, so the failure cannot be reported.
    let _ = writeln!(io::stderr(), "{what}: {}", lines(&words.to_string()));
}
