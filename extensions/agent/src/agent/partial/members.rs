//! Finds the complete members of a JSON object in a text that is still incomplete. Pure: depends only on the text.
//! Gives up if the text is not an object.

use serde_json::{Map, Value};

/// The maximum length of the text, in bytes. In a longer text, no more members are found before the value is complete.
const LONGEST: usize = 1 << 20;

/// The text of an object that arrives in pieces, and the members of the object that are complete.
#[derive(Default)]
pub(super) struct Members {
    text: String,
    /// The number of bytes of `text` that were examined so far.
    at: usize,
    place: Place,
    fields: Map<String, Value>,
}

/// The position of the parser in the object.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// Before the object begins.
    #[default]
    Before,
    /// In a member that begins at `start`; `depth` counts the open brackets of its value.
    Member { start: usize, depth: u32, text: InText },
    /// After the object, or in a text that is not an object.
    Over,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum InText {
    #[default]
    No,
    Yes,
    /// After a backslash in a string.
    Escaped,
}

impl Members {
    /// Returns the members that are complete.
    pub(super) fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// Discards the text; returns whether there were complete members.
    pub(super) fn clear(&mut self) -> bool {
        let had_some = !self.fields.is_empty();
        *self = Self::default();
        had_some
    }

    /// Adds a piece of text; returns whether it completes a member.
    pub(super) fn push(&mut self, more: &str) -> bool {
        if self.place == Place::Over {
            return false;
        }
        self.text.push_str(more);
        if self.text.len() > LONGEST {
            self.place = Place::Over;
            return false;
        }
        let before = self.fields.len();
        while let Some(byte) = self.text.as_bytes().get(self.at).copied() {
            self.look_at(byte);
            self.at += 1;
            if self.place == Place::Over {
                break;
            }
        }
        self.fields.len() > before
    }

    fn look_at(&mut self, byte: u8) {
        let next = self.at + 1;
        let begun = |start| Place::Member { start, depth: 0, text: InText::No };
        let place = self.place;
        self.place = match place {
            Place::Before => match byte {
                b' ' | b'\t' | b'\r' | b'\n' => Place::Before,
                b'{' => begun(next),
                _ => Place::Over,
            },
            Place::Member { start, depth, text: InText::Yes } => {
                let text = match byte {
                    b'\\' => InText::Escaped,
                    b'"' => InText::No,
                    _ => InText::Yes,
                };
                Place::Member { start, depth, text }
            }
            Place::Member { start, depth, text: InText::Escaped } => {
                Place::Member { start, depth, text: InText::Yes }
            }
            Place::Member { start, depth, text: InText::No } => match (byte, depth) {
                (b'"', _) => Place::Member { start, depth, text: InText::Yes },
                (b'{' | b'[', _) => Place::Member { start, depth: depth + 1, text: InText::No },
                (b',' | b'}', 0) => match self.member(start) && byte == b',' {
                    true => begun(next),
                    false => Place::Over,
                },
                (b'}' | b']', 1..) => Place::Member { start, depth: depth - 1, text: InText::No },
                (b']', 0) => Place::Over,
                _ => Place::Member { start, depth, text: InText::No },
            },
            Place::Over => Place::Over,
        };
    }

    /// Reads the member that ends at the current position; returns whether it is a valid member.
    fn member(&mut self, start: usize) -> bool {
        let Some(member) = self.text.get(start..self.at) else { return false };
        let read = serde_json::from_str::<Map<String, Value>>(&format!("{{{member}}}"));
        let Ok(read) = read else { return false };
        let is_one = read.len() == 1;
        // A name that occurs twice may have another value in the complete object, so the search stops.
        if read.keys().any(|name| self.fields.contains_key(name)) {
            return false;
        }
        self.fields.extend(read);
        is_one
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn whole(pieces: &[&str]) -> Vec<String> {
        let mut members = Members::default();
        let seen = |members: &Members| members.fields.keys().cloned().collect::<Vec<_>>().join(",");
        let mut whole = Vec::new();
        for piece in pieces {
            if members.push(piece) {
                whole.push(seen(&members));
            }
        }
        whole
    }

    #[test]
    fn a_member_is_whole_when_what_follows_it_has_begun() {
        assert_eq!(
            whole(&[" {\"a\": \"x", ",}\\\"y\"", ",\"b\":[1,{\"c\":2}]", ",\"n\":12", "3}"]),
            ["a", "a,b", "a,b,n"]
        );
        assert_eq!(whole(&["{", "}"]), Vec::<String>::new());
        assert_eq!(whole(&["It is {\"a\":1}"]), Vec::<String>::new());
        assert_eq!(whole(&["[{\"a\":1}]"]), Vec::<String>::new());
        assert_eq!(whole(&["{\"a\":1 2,", "\"b\":3}"]), Vec::<String>::new());
        assert_eq!(whole(&["{\"a\":1,", "\"a\":2,", "\"b\":3}"]), ["a"]);
        assert_eq!(whole(&["{\"a\":1}", ",\"b\":2}"]), ["a"]);
    }

    proptest! {
        #[test]
        fn what_is_whole_is_what_the_value_has_in_the_end_however_the_text_is_cut(
            text in "[ -~\\n\u{e4}\u{1f600}]{0,12}", number in any::<i64>(), cuts in prop::collection::vec(1usize..9, 1..40),
        ) {
            let value = json!({ "a": text, "b": [number, { "c": text }], "d": null, "e": { "f": [[]] } });
            let json = value.to_string();
            let (mut members, mut rest, mut cuts) = (Members::default(), &*json, cuts.into_iter().cycle());
            while !rest.is_empty() {
                let cut = (cuts.next().unwrap()..).find(|at| *at >= rest.len() || rest.is_char_boundary(*at));
                let (piece, more) = rest.split_at(cut.unwrap().min(rest.len()));
                members.push(piece);
                for (name, field) in members.fields() {
                    prop_assert_eq!(&value[name], field);
                }
                rest = more;
            }
            prop_assert_eq!(&Value::Object(members.fields().clone()), &value);
        }
    }
}
