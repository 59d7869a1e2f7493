//! Passes the items of an array and the fields of a struct to serde, one by one.
//!
//! - Items are in element position, fields in field position: see [`Reader`].
//! - A struct accepts only its own keys, each of them once, even if its type would ignore other keys.

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::{
    entries::SeenKeys,
    fault::Fault,
    key::KeyText,
    problem::Rule,
    reader::{Place, Reader},
    words,
};

/// The items of an array.
pub(super) struct Items<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// The number of items that were read so far.
    count: usize,
}

impl<'a, 'de> Items<'a, 'de> {
    /// Reads the array that begins at the cursor.
    #[inline]
    pub(super) fn read<V: Visitor<'de>>(
        reader: &'a mut Reader<'de>,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let start = reader.position;
        reader.open()?;
        let mut items = Items { reader, count: 0 };
        let value = visitor.visit_seq(&mut items)?;
        let Items { reader, count } = items;
        if reader.next(count == 0, b']')? {
            return Err(reader.more_items(start, count));
        }
        reader.close();
        Ok(value)
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Fault;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        if !self.reader.next(self.count == 0, b']')? {
            return Ok(None);
        }
        let start = self.reader.position;
        self.reader.place = Place::Element;
        match seed.deserialize(&mut *self.reader) {
            Ok(value) => {
                self.count += 1;
                Ok(Some(value))
            }
            Err(fault) => Err(self.reader.show(fault, start).at_index(self.count)),
        }
    }
}

/// The fields of a struct.
pub(super) struct Fields<'a, 'de> {
    reader: &'a mut Reader<'de>,
    names: &'static [&'static str],
    /// The index of the field whose value is read next.
    current: usize,
    first: bool,
    /// One bit for each of the first 64 fields, set once the field has been given.
    given: u64,
    /// The keys that were given and have no bit.
    others: Option<Box<SeenKeys<'de>>>,
}

impl<'a, 'de> Fields<'a, 'de> {
    /// Reads the object that begins at the cursor.
    #[inline]
    pub(super) fn read<V: Visitor<'de>>(
        reader: &'a mut Reader<'de>,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        reader.open()?;
        // The first key increments this index, which wraps around to the index of the first field.
        let current = usize::MAX;
        let mut fields = Fields { reader, names, current, first: true, given: 0, others: None };
        let value = visitor.visit_map(&mut fields)?;
        let Fields { reader, first, .. } = fields;
        if reader.next(first, b'}')? {
            return Err(reader.syntax("}"));
        }
        reader.close();
        Ok(value)
    }

    /// Reads the next key and returns the field that it names; `None` at the end of the object.
    #[inline]
    fn next_name(&mut self) -> Result<Option<&'static str>, Fault> {
        if !self.reader.next(self.first, b'}')? {
            return Ok(None);
        }
        self.first = false;
        let text = self.reader.key()?;
        let key = self.reader.resolve(text);
        let next = self.current.wrapping_add(1);
        let (index, name) = match self.names.get(next) {
            Some(&name) if name == key => (next, name),
            _ => match self.names.iter().enumerate().find(|(_, name)| **name == key) {
                Some((index, name)) => (index, *name),
                None => return Err(Fault::unknown_key(key, self.names.iter().copied())),
            },
        };
        self.current = index;
        if !self.is_new(index, name) {
            return Err(Fault::duplicate_key(name));
        }
        Ok(Some(name))
    }

    #[inline]
    fn is_new(&mut self, index: usize, name: &'static str) -> bool {
        if index >= 64 {
            return self.others.get_or_insert_default().insert_borrowed(name);
        }
        let bit = 1 << index;
        let new = self.given & bit == 0;
        self.given |= bit;
        new
    }
}

impl<'de> MapAccess<'de> for Fields<'_, 'de> {
    type Error = Fault;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        match self.next_name()? {
            Some(name) => seed.deserialize(KeyText::Borrowed(name)).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        self.reader.colon()?;
        let start = self.reader.position;
        self.reader.place = Place::Field;
        match seed.deserialize(&mut *self.reader) {
            Ok(value) => Ok(value),
            Err(fault) => {
                let name = self.names.get(self.current).copied().unwrap_or_default();
                Err(self.reader.show(fault, start).at_key(name))
            }
        }
    }
}

impl Reader<'_> {
    /// Makes the fault of an array with more items than its type has.
    #[cold]
    fn more_items(&self, start: usize, count: usize) -> Fault {
        Fault::new(Rule::Length, self.value_at(start), words::items(count))
    }
}
