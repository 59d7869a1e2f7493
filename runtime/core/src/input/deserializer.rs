//! Implements serde's `Deserializer` for the strict reader: which JSON each kind of Rust type accepts.

use serde::{Deserializer, de::Visitor};

use super::{
    access::{Fields, Items},
    entries::Entries,
    fault::{ExpectedInput, Fault},
    number::Exact,
    reader::{Place, Reader},
    string::Text,
    variant::Choice,
    words,
};

macro_rules! integers {
    ($($method:ident $visit:ident $integer:ty;)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            self.skip_space();
            let start = self.position;
            if let Some(plain) = self.plain_integer() && let Ok(value) = <$integer>::try_from(plain) {
                return visitor.$visit(value);
            }
            let bounds = (<$integer>::MIN as i128, <$integer>::MAX as u128);
            let value = self.integer(start, bounds, &visitor)?;
            visitor.$visit(value as $integer)
        }
    )*};
}

macro_rules! floats {
    ($($method:ident $visit:ident $float:ty;)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            let number = self.number(&visitor)?;
            match number.text.parse::<$float>() {
                Ok(value) if value.abs() < <$float>::MAX || number.is_within(<$float>::MAX.into()) => {
                    visitor.$visit(value)
                }
                _ => Err(number.out_of_range(words::float_range(<$float>::MAX))),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.peek() {
            Some(b'"') => self.deserialize_str(visitor),
            Some(b'{') => self.deserialize_map(visitor),
            Some(b'[') => self.deserialize_seq(visitor),
            Some(b't' | b'f') => self.deserialize_bool(visitor),
            Some(b'n') => self.deserialize_unit(visitor),
            _ => self.visit_number(visitor),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.peek() {
            Some(b't') => {
                self.word("true")?;
                visitor.visit_bool(true)
            }
            Some(b'f') => {
                self.word("false")?;
                visitor.visit_bool(false)
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    integers! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_i128 visit_i128 i128;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
        deserialize_u128 visit_u128 u128;
    }

    floats! {
        deserialize_f32 visit_f32 f32;
        deserialize_f64 visit_f64 f64;
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.mismatch(&visitor));
        }
        match self.string()? {
            Text::Borrowed(text) => visitor.visit_borrowed_str(text),
            Text::Scratch => visitor.visit_str(&self.scratch),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.peek() {
            Some(b'"') => match self.string()? {
                Text::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
                Text::Scratch => visitor.visit_bytes(self.scratch.as_bytes()),
            },
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let null = self.peek() == Some(b'n');
        if null {
            if self.place == Place::Element || (self.lenient && self.place == Place::Field) {
                self.place = Place::Field;
                self.word("null")?;
                return visitor.visit_none();
            }
            if self.place == Place::Parameter {
                // Only the option as a whole can be left out. A value inside the option cannot.
                self.place = Place::Element;
            }
        }
        match visitor.visit_some(&mut *self) {
            Ok(value) => {
                self.place = Place::Field;
                Ok(value)
            }
            Err(fault) if null => Err(fault.into_null()),
            Err(fault) => Err(fault),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.peek() {
            Some(b'n') => {
                self.word("null")?;
                visitor.visit_unit()
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        // A value inside a newtype has no key that could be left out, so only `null` can express `None`.
        self.place = Place::Element;
        let read = visitor.visit_newtype_struct(&mut *self);
        self.place = Place::Field;
        read
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.peek() != Some(b'[') {
            return Err(self.mismatch(&visitor));
        }
        Items::read(self, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if self.peek() != Some(b'[') {
            return Err(self.mismatch_in_words(words::items(length)));
        }
        Items::read(self, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_tuple(length, visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.peek() != Some(b'{') {
            return Err(self.mismatch(&visitor));
        }
        Entries::read(self, visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if self.peek() != Some(b'{') {
            return Err(self.no_struct(fields));
        }
        Fields::read(self, fields, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.peek() {
            Some(b'"') => visitor.visit_enum(Choice::named(self)),
            Some(b'{') => Choice::read_tagged(self, visitor),
            _ => Err(self.no_variant(variants)),
        }
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.skip_value()?;
        visitor.visit_unit()
    }
}

impl<'de> Reader<'de> {
    #[cold]
    fn no_struct(&mut self, fields: &'static [&'static str]) -> Fault {
        self.mismatch_in_words("an object".to_owned()).asking(ExpectedInput::Fields(fields))
    }

    #[cold]
    fn no_variant(&mut self, variants: &'static [&'static str]) -> Fault {
        self.mismatch_in_words(words::one_of(variants.iter().copied()))
            .asking(ExpectedInput::Variants(variants))
    }

    /// Visits a number as the type that its spelling suggests. An integer beyond 64 bits is visited as a float, as
    /// serde_json does, because serde's buffers and types that accept any value cannot store a longer integer.
    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Fault> {
        match self.plain_integer() {
            Some(value) => match u64::try_from(value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_i64(value),
            },
            None => self.visit_long_number(visitor),
        }
    }

    fn visit_long_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Fault> {
        let number = self.number(&visitor)?;
        if let (true, Exact::Integer { negative, magnitude }) = (number.plain, number.exact())
            && let Ok(magnitude) = u64::try_from(magnitude)
        {
            match 0_i64.checked_sub_unsigned(magnitude) {
                _ if !negative => return visitor.visit_u64(magnitude),
                Some(value) => return visitor.visit_i64(value),
                None => {}
            }
        }
        match number.text.parse::<f64>() {
            Ok(value) if value.is_finite() => visitor.visit_f64(value),
            _ => Err(number.out_of_range(words::float_range(f64::MAX))),
        }
    }
}
