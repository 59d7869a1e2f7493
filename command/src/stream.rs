//! Answers input line by line, from a file or standard input to standard output.
//!
//! - The command goes on after a line that is refused; the exit code reports it.
//! - If no further input has arrived, the answers so far are written before the command waits.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, value_parser};

use crate::lines::{LONGEST, Line, Lines};
use crate::{Exit, complain};

const FILE: &str = "file";

/// The argument that names the input file.
pub(crate) fn file(help: &'static str) -> Arg {
    Arg::new(FILE)
        .value_name("FILE")
        .default_value("-")
        .value_parser(value_parser!(PathBuf))
        .help(help)
}

/// The reason why the command cannot read or write any more.
enum StreamEnd {
    /// The reader has closed the output; `head` does so, for instance.
    Closed,
    Read(io::Error),
    Write(io::Error),
}

/// Answers each line that is not blank. `answer` answers one line, and returns whether the line was accepted.
pub(crate) fn run(
    matches: &ArgMatches,
    mut answer: impl FnMut(usize, &Line<'_>, &mut dyn Write) -> io::Result<bool>,
) -> Exit {
    let file = matches.get_one::<PathBuf>(FILE).map_or(Path::new("-"), PathBuf::as_path);
    let mut output = BufWriter::new(io::stdout().lock());
    let mut exit = Exit::Success;
    let answered = if file == Path::new("-") {
        each(io::stdin().lock(), &mut output, &mut answer, &mut exit)
    } else {
        File::open(file)
            .map_err(StreamEnd::Read)
            .and_then(|file| each(file, &mut output, &mut answer, &mut exit))
    };
    match answered.and_then(|()| output.flush().map_err(write_error)) {
        Ok(()) | Err(StreamEnd::Closed) => exit,
        Err(StreamEnd::Read(error)) => {
            // Write out the earlier answers even after an error.
            let _ = output.flush();
            complain(Exit::Failed, format!("{} cannot be read: {error}", file.display()))
        }
        Err(StreamEnd::Write(error)) => {
            complain(Exit::Failed, format!("the result could not be written: {error}"))
        }
    }
}

fn each(
    input: impl Read,
    output: &mut impl Write,
    answer: &mut impl FnMut(usize, &Line<'_>, &mut dyn Write) -> io::Result<bool>,
    exit: &mut Exit,
) -> Result<(), StreamEnd> {
    let mut lines = Lines::new(input, LONGEST);
    while let Some((number, line)) = lines.next().map_err(StreamEnd::Read)? {
        if matches!(line, Line::Text(text) if text.trim_ascii().is_empty()) {
            continue;
        }
        if !answer(number, &line, output).map_err(write_error)? {
            *exit = Exit::Failed;
        }
        // Flush only if no more input is buffered: answers to lines that arrived together are then written together.
        if !lines.has_more() {
            output.flush().map_err(write_error)?;
        }
    }
    Ok(())
}

fn write_error(error: io::Error) -> StreamEnd {
    match error.kind() {
        io::ErrorKind::BrokenPipe => StreamEnd::Closed,
        _ => StreamEnd::Write(error),
    }
}
