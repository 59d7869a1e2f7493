//! The places of repeated keys. Only a limited number of places is stored; the others are counted.
//!
//! - A short text can have many repeated keys below one long key, and each place contains the long key. So the places
//!   below one key take at most [`ROOM`] bytes; only the first place is stored in any case.

use super::tree::push_segment;

/// The maximum number of places that are reported.
const MOST: usize = 100;
/// The maximum number of bytes of the places below one key. The first place is stored even if it is longer.
const ROOM: usize = 64 * 1024;

/// The keys that an object has more than once.
#[derive(Debug, Default)]
pub struct Duplicates {
    /// The places of the duplicate keys, as JSON pointers.
    pub pointers: Vec<String>,
    /// How many further duplicate keys were counted but not reported.
    pub more: usize,
}

impl Duplicates {
    pub fn is_empty(&self) -> bool {
        self.pointers.is_empty()
    }

    /// Adds the repeated keys of one object. Sorting takes O(n·log n), whatever the keys are.
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

    /// Returns the number of stored places. Call it before a value is read, and pass the number to
    /// [`place`](Self::place).
    pub fn known(&self) -> usize {
        self.pointers.len()
    }

    /// Prepends the key of a value to the places that were found inside of the value.
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
