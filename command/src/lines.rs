//! Reads lines of bounded length: only one line at a time is in memory.

use std::io::{self, BufRead as _, BufReader, Read};

/// The most bytes of a line; a longer one is skipped.
pub(crate) const LONGEST: usize = 16 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Text(&'a [u8]),
    /// The line was too long and was skipped.
    TooLong,
}

pub(crate) struct Lines<R> {
    input: BufReader<R>,
    buffer: Vec<u8>,
    longest: usize,
    number: usize,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(input: R, longest: usize) -> Self {
        Self { input: BufReader::new(input), buffer: Vec::new(), longest, number: 0 }
    }

    /// Returns whether input is buffered: at least the beginning of the next line has arrived.
    pub(crate) fn has_more(&self) -> bool {
        !self.input.buffer().is_empty()
    }

    /// Returns the next line without its line break, and its number, counted from 1.
    pub(crate) fn next(&mut self) -> io::Result<Option<(usize, Line<'_>)>> {
        self.buffer.clear();
        let limit = u64::try_from(self.longest).unwrap_or(u64::MAX).saturating_add(1);
        if self.input.by_ref().take(limit).read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let ended = self.buffer.ends_with(b"\n");
        if !ended && self.buffer.len() > self.longest {
            self.input.skip_until(b'\n')?;
            return Ok(Some((self.number, Line::TooLong)));
        }
        let text = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        // Some editors put a byte order mark at the start of a UTF-8 file.
        let mark = if self.number == 1 { b"\xEF\xBB\xBF".as_slice() } else { b"" };
        let text = text.strip_prefix(mark).unwrap_or(text);
        Ok(Some((self.number, Line::Text(text))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_a_long_one_is_skipped() {
        let mut lines = Lines::new(&b"one\r\n\ntoo long\n1234\nlast"[..], 4);
        let mut read = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            read.push(match line {
                Line::Text(text) => format!("{number}: {}", String::from_utf8_lossy(text)),
                Line::TooLong => format!("{number}: too long"),
            });
        }
        assert_eq!(read, ["1: one", "2: ", "3: too long", "4: 1234", "5: last"]);
    }

    #[test]
    fn a_mark_before_the_first_line_is_none_of_it() {
        let mut lines = Lines::new(&b"\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n"[..], 9);
        assert_eq!(lines.next().unwrap(), Some((1, Line::Text(b"one"))));
        assert_eq!(lines.next().unwrap(), Some((2, Line::Text(b"\xEF\xBB\xBFtwo"))));
    }
}
