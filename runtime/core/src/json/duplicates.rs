//! The places of repeated keys: a few of them, and the number of the others.
//!
//! - A short text can have many of them below a long key. So the stored places take no more memory than the text, plus
//!   [`ROOM`].

use super::tree::push_segment;

/// The maximum number of keys whose locations are reported.
const MOST: usize = 100;
/// How many bytes of places are stored below one key; the first place is always stored.
const ROOM: usize = 64 * 1024;

/// Keys that were given twice.
#[derive(Debug, Default)]
pub struct Duplicates {
    /// The locations of the keys, as JSON pointers.
    pub pointers: Vec<String>,
    /// How many further keys are only counted.
    pub more: usize,
}

impl Duplicates {
    pub fn is_empty(&self) -> bool {
        self.pointers.is_empty()
    }

    /// Adds the repeated keys of one object. Sorting takes n·log n for any keys.
    pub fn find<V>(&mut self, entries: &[(String, V)]) {
        let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        let mut found: Vec<&str> =
            keys.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        found.dedup();
        for key in found {
            if self.pointers.len() == MOST {
                self.more += 1;
                continue;
            }
            let mut pointer = String::new();
            push_segment(&mut pointer, key);
            self.pointers.push(pointer);
        }
    }

    /// Counts the stored places; [`place`](Self::place) needs this count from before a value is read.
    pub fn known(&self) -> usize {
        self.pointers.len()
    }

    /// Prepends the key of a value to the places that were found inside it.
    pub fn place(&mut self, known: usize, key: impl Fn() -> String) {
        if self.pointers.len() == known {
            return;
        }
        let mut place = String::new();
        push_segment(&mut place, &key());
        let mut length = 0;
        let fits = self.pointers[known..].iter().take_while(|pointer| {
            length += place.len() + pointer.len();
            length <= ROOM
        });
        let kept = known + fits.count().max(1);
        self.more += self.pointers.len() - kept;
        self.pointers.truncate(kept);
        for pointer in &mut self.pointers[known..] {
            pointer.insert_str(0, &place);
        }
    }
}
