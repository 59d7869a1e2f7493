//! Reads a text from the command line, a file or standard input.

use std::fs::File;
use std::io::{self, Read};

use super::Stop;
use crate::Exit;

/// The maximum number of bytes that are read from a file or standard input.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Returns the text itself, the content of FILE for `@FILE`, or standard input for `-`.
pub(crate) fn read_given(text: &str) -> Result<String, Stop> {
    match (text, text.strip_prefix('@')) {
        ("-", _) => read(io::stdin().lock(), "standard input"),
        (_, Some(path)) => {
            let file = File::open(path).map_err(|error| unreadable(path, &error))?;
            read(file, path)
        }
        _ => Ok(text.to_owned()),
    }
}

fn read(input: impl Read, name: &str) -> Result<String, Stop> {
    let mut text = String::new();
    let mut input = input.take(LONGEST + 1);
    input.read_to_string(&mut text).map_err(|error| unreadable(name, &error))?;
    if text.len() as u64 > LONGEST {
        return Err(Stop::usage(format!("{name} is longer than {LONGEST} bytes")));
    }
    Ok(text)
}

fn unreadable(name: &str, error: &io::Error) -> Stop {
    Stop::new(Exit::Failed, format!("{name} cannot be read: {error}"))
}
