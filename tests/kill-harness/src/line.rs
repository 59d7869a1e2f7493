//! Lines of files that many processes append to. Any process may be killed in the middle of a line.

use std::io;

use serde::{Deserialize, Serialize};

/// Formats a value as a line. It begins with a line break, since a killed process may have left the line before
/// unfinished.
pub(crate) fn of<T: Serialize>(value: &T) -> serde_json::Result<String> {
    serde_json::to_string(value).map(|line| format!("\n{line}\n"))
}

/// Parses a line; `None` if it is empty or torn. A torn line is the last one of a killed process.
///
/// # Errors
/// When the line is complete but is not such a value.
pub(crate) fn read<T: for<'a> Deserialize<'a>>(line: &str) -> io::Result<Option<T>> {
    // Where the line is torn inside a string, the line break would be part of the string.
    let line = line.trim();
    if line.is_empty() {
        return Ok(None);
    }
    match serde_json::from_str(line) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_eof() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_torn_takes_none_of_the_others_with_it() {
        let (one, two) = (of(&["one"]).unwrap(), of(&["two"]).unwrap());
        for torn in (0..one.len()).filter(|at| one.is_char_boundary(*at)) {
            let file = format!("{two}{}{two}", &one[..torn]);
            let found = file.lines().filter_map(|line| read::<[String; 1]>(line).unwrap());
            let found: Vec<[String; 1]> = found.collect();
            let is_whole = one[..torn].ends_with(']');
            assert_eq!(found.len(), if is_whole { 3 } else { 2 }, "{file}");
        }
        assert!(read::<[String; 1]>("[\"on\n").unwrap().is_none(), "it is read with its end");
        assert!(read::<[String; 1]>("[1]").is_err(), "it is whole, and none of ours");
    }
}
