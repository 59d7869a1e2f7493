//! Passes the entries of a map to serde one by one, and refuses a repeated key.
//!
//! - Keys are compared in decoded form. Up to eight keys are compared one by one, more keys by hash, so that the cost
//!   stays linear.
//! - Values are in element position: see [`Reader`].

use std::{borrow::Cow, collections::HashSet};

use serde::de::{DeserializeSeed, MapAccess, Visitor};

use super::{
    fault::Fault,
    key::KeyText,
    reader::{Place, Reader},
    string::Text,
};

/// The entries of a map.
pub(super) struct Entries<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// The position in the text at which the key of the next value begins.
    key: usize,
    first: bool,
    seen: SeenKeys<'de>,
}

impl<'a, 'de> Entries<'a, 'de> {
    /// Reads the object that begins at the cursor.
    #[inline]
    pub(super) fn read<V: Visitor<'de>>(
        reader: &'a mut Reader<'de>,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        reader.open()?;
        let mut entries = Entries { reader, key: 0, first: true, seen: SeenKeys::default() };
        let value = visitor.visit_map(&mut entries)?;
        let Entries { reader, first, .. } = entries;
        if reader.next(first, b'}')? {
            return Err(reader.syntax("}"));
        }
        reader.close();
        Ok(value)
    }

    fn next_key(&mut self) -> Result<Option<Text<'de>>, Fault> {
        if !self.reader.next(self.first, b'}')? {
            return Ok(None);
        }
        self.first = false;
        self.key = self.reader.position;
        let key = self.reader.key()?;
        let new = match key {
            Text::Borrowed(key) => self.seen.insert_borrowed(key),
            Text::Scratch => self.seen.insert(Cow::Owned(self.reader.scratch.clone())),
        };
        if !new {
            return Err(Fault::duplicate_key(self.reader.resolve(key)));
        }
        Ok(Some(key))
    }
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Fault;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let Some(key) = self.next_key()? else {
            return Ok(None);
        };
        let text = KeyText::new(key, &self.reader.scratch);
        match seed.deserialize(text) {
            Ok(key) => Ok(Some(key)),
            Err(fault) => Err(text.show(fault)),
        }
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        self.reader.colon()?;
        let start = self.reader.position;
        self.reader.place = Place::Element;
        match seed.deserialize(&mut *self.reader) {
            Ok(value) => Ok(value),
            Err(fault) => {
                let key = self.reader.string_at(self.key);
                Err(self.reader.show(fault, start).at_key(&key))
            }
        }
    }
}

const FEW: usize = 8;

/// The keys of an object that were read so far.
#[derive(Default)]
pub(super) struct SeenKeys<'de> {
    few: [&'de str; FEW],
    count: usize,
    /// All keys. Used once there are more than [`FEW`], or once a key has escapes and so cannot be borrowed from the
    /// text.
    all: Option<HashSet<Cow<'de, str>>>,
}

impl<'de> SeenKeys<'de> {
    /// Adds a key. Returns `false` if the object already had the key.
    #[inline]
    pub(super) fn insert_borrowed(&mut self, key: &'de str) -> bool {
        if self.all.is_some() || self.count == FEW {
            return self.insert(Cow::Borrowed(key));
        }
        if self.few.iter().take(self.count).any(|few| *few == key) {
            return false;
        }
        if let Some(free) = self.few.get_mut(self.count) {
            *free = key;
            self.count += 1;
        }
        true
    }

    /// Adds a key as [`insert_borrowed`](Self::insert_borrowed) does, but always compares by hash.
    pub(super) fn insert(&mut self, key: Cow<'de, str>) -> bool {
        let few = self.few.iter().take(self.count).map(|key| Cow::Borrowed(*key));
        self.all.get_or_insert_with(|| few.collect()).insert(key)
    }
}
