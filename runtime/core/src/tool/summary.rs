//! A one-line summary of a tool, for a prompt that has no room for schemas.

use std::fmt;

use super::{Definition, Exposure};

/// A summary of a tool: its name, and the first sentence of its description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary<'a> {
    /// The name by which models call the tool.
    pub name: &'a str,
    /// The first sentence of the description, without the full stop.
    pub sentence: &'a str,
    /// Whether the model sees the tool directly, or only after a search.
    pub exposure: Exposure,
}

/// The maximum length of the sentence in characters. A longer sentence is cut at the end of a word.
const LONGEST: usize = 200;

impl Definition {
    /// Returns the summary of the tool.
    #[must_use]
    pub fn summary(&self) -> Summary<'_> {
        Summary {
            name: &self.name,
            sentence: first_sentence(&self.description),
            exposure: self.exposure,
        }
    }
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sentence {
            "" => formatter.write_str(self.name),
            sentence => write!(formatter, "{}: {sentence}", self.name),
        }
    }
}

/// Returns the first sentence of the first line. A full stop before a lower-case letter belongs to an abbreviation and
/// does not end a sentence.
#[doc(hidden)]
#[must_use]
pub fn first_sentence(text: &str) -> &str {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let stops = line.match_indices(['.', '!', '?']).map(|(index, _)| index);
    let ends = |index: &usize| {
        let after = line.get(index + 1..).unwrap_or_default();
        let next = after.trim_start().chars().next();
        next.is_none_or(|next| after.starts_with(char::is_whitespace) && !next.is_lowercase())
    };
    let end = stops.into_iter().find(ends).map_or(line.len(), |index| {
        if line.as_bytes().get(index) == Some(&b'.') { index } else { index + 1 }
    });
    shorten(line.get(..end).unwrap_or(line).trim_end())
}

fn shorten(sentence: &str) -> &str {
    let Some((end, _)) = sentence.char_indices().nth(LONGEST) else { return sentence };
    let cut = sentence.get(..end).unwrap_or(sentence);
    cut.rfind(char::is_whitespace).and_then(|space| cut.get(..space)).unwrap_or(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_where_the_next_begins() {
        for (text, sentence) in [
            ("Reads a file.", "Reads a file"),
            ("Reads a file. Then some.", "Reads a file"),
            ("Reads e.g. a file, i.e. its text. More.", "Reads e.g. a file, i.e. its text"),
            ("Reads a.txt and v1.2 files", "Reads a.txt and v1.2 files"),
            ("Is it there? Says so.", "Is it there?"),
            ("One line\n\nAnother.", "One line"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), sentence);
        }
        let long = "word ".repeat(100);
        assert_eq!(first_sentence(&long).len(), 199);
        assert_eq!(first_sentence(&"x".repeat(300)).len(), 200);
    }
}
