//! Reads enums: a string is a variant without contents, and an object with one key is a variant with contents.
//!
//! - The two forms are not interchangeable: `{"Fast":null}` is not a unit variant.
//! - The contents of a variant are in element position, because the variant's key cannot be left out.

use serde::{
    Deserializer as _,
    de::{DeserializeSeed, EnumAccess, VariantAccess, Visitor},
};

use super::{
    fault::Fault,
    key::KeyText,
    problem::Rule,
    reader::{Place, Reader},
    words,
};

/// The variant at the cursor, written as a string or as an object with one key.
pub(super) struct Choice<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// The start of the whole value in the text.
    start: usize,
    /// The start of the variant's name in the text.
    name: usize,
    /// Whether the name is the key of an object.
    tagged: bool,
}

impl<'a, 'de> Choice<'a, 'de> {
    /// Makes the choice for a variant that is written as a string at the cursor.
    pub(super) fn named(reader: &'a mut Reader<'de>) -> Self {
        let start = reader.position;
        Self { reader, start, name: start, tagged: false }
    }

    /// Reads a variant that is written as an object with one key. The cursor is at the opening bracket.
    pub(super) fn read_tagged<V: Visitor<'de>>(
        reader: &'a mut Reader<'de>,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let start = reader.position;
        reader.open()?;
        if !reader.next(true, b'}')? {
            return Err(reader.not_one_key(start));
        }
        let name = reader.position;
        if reader.byte() != Some(b'"') {
            return Err(reader.syntax("a key in double quotes"));
        }
        let value =
            visitor.visit_enum(Choice { reader: &mut *reader, start, name, tagged: true })?;
        if reader.next(false, b'}')? {
            return Err(reader.not_one_key(start));
        }
        reader.close();
        Ok(value)
    }

    /// Moves the cursor to the contents of the variant. Fails if the variant is written as a string.
    fn contents(&mut self) -> Result<(), Fault> {
        if !self.tagged {
            let name = words::quote(&self.reader.string_at(self.name));
            let expected = format!("an object {{{name}: …}}");
            return Err(Fault::new(Rule::Type, &name, expected));
        }
        self.reader.place = Place::Element;
        self.reader.colon()
    }

    fn locate<T>(
        reader: &Reader<'de>,
        read: Result<T, Fault>,
        name: usize,
        start: usize,
    ) -> Result<T, Fault> {
        match read {
            Ok(value) => Ok(value),
            Err(fault) => Err(reader.show(fault, start).at_key(&reader.string_at(name))),
        }
    }
}

impl<'de> EnumAccess<'de> for Choice<'_, 'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let text = self.reader.string()?;
        let variant = seed.deserialize(KeyText::new(text, &self.reader.scratch))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'_, 'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        if !self.tagged {
            return Ok(());
        }
        let name = words::quote(&self.reader.string_at(self.name));
        let found = self.reader.value_at(self.start);
        Err(Fault::new(Rule::Type, found, format!("the string {name}")))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<T::Value, Fault> {
        self.contents()?;
        let start = self.reader.position;
        let read = seed.deserialize(&mut *self.reader);
        Self::locate(self.reader, read, self.name, start)
    }

    fn tuple_variant<V: Visitor<'de>>(
        mut self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.contents()?;
        let start = self.reader.position;
        let read = self.reader.deserialize_tuple(length, visitor);
        Self::locate(self.reader, read, self.name, start)
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.contents()?;
        let start = self.reader.position;
        let read = self.reader.deserialize_struct("", fields, visitor);
        Self::locate(self.reader, read, self.name, start)
    }
}

impl Reader<'_> {
    #[cold]
    fn not_one_key(&self, start: usize) -> Fault {
        Fault::new(Rule::Type, self.value_at(start), "an object with exactly one key")
    }
}
