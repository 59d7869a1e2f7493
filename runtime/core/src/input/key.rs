//! Reads an object's key as a value: a name, or a scalar that is written as a string.
//!
//! - A number as a key has only one accepted spelling, so that different keys are different numbers.

use serde::{
    Deserializer,
    de::{DeserializeSeed, EnumAccess, Error as _, Unexpected, VariantAccess, Visitor},
    forward_to_deserialize_any,
};

use super::{
    fault::{ExpectedInput, Fault},
    problem::Rule,
    string::Text,
    words,
};

/// The text of a key, decoded.
#[derive(Clone, Copy)]
pub(super) enum KeyText<'a, 'de> {
    /// The key is borrowed from the input's text.
    Borrowed(&'de str),
    /// The key was decoded into the scratch buffer.
    Decoded(&'a str),
}

impl<'a, 'de> KeyText<'a, 'de> {
    #[inline]
    pub(super) fn new(text: Text<'de>, scratch: &'a str) -> Self {
        match text {
            Text::Borrowed(text) => Self::Borrowed(text),
            Text::Scratch => Self::Decoded(scratch),
        }
    }

    fn as_str(&self) -> &str {
        match *self {
            Self::Borrowed(text) => text,
            Self::Decoded(text) => text,
        }
    }

    /// Completes a fault with the key: quotes the key, and adds its segment to the location.
    #[cold]
    pub(super) fn show(&self, mut fault: Fault) -> Fault {
        if fault.lacks_found() {
            fault.set_found(&words::quote(self.as_str()));
        }
        fault.at_key(self.as_str())
    }
}

macro_rules! integers {
    ($($method:ident $visit:ident $integer:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.as_str().parse::<$integer>() {
                Ok(value) if value.to_string() == self.as_str() => visitor.$visit(value),
                _ => {
                    Err(self.no_integer(<$integer>::MIN as i128, <$integer>::MAX as u128))
                }
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for KeyText<'_, 'de> {
    type Error = Fault;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self {
            Self::Borrowed(text) => visitor.visit_borrowed_str(text),
            Self::Decoded(text) => visitor.visit_str(text),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.as_str() {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(Fault::invalid_type(Unexpected::Str(other), &visitor)
                .asking(ExpectedInput::Variants(&["false", "true"]))),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor).map_err(|fault| fault.asking(ExpectedInput::CharKey))
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

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        f32 f64 str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for KeyText<'_, 'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        Ok((seed.deserialize(self)?, self))
    }
}

impl KeyText<'_, '_> {
    #[cold]
    fn no_integer(&self, minimum: i128, maximum: u128) -> Fault {
        let expected = format!("{} as the key", words::range(minimum, maximum));
        let fault = Fault::new(Rule::Type, &words::quote(self.as_str()), expected);
        fault.asking(ExpectedInput::IntegerKey(minimum, maximum))
    }

    #[cold]
    fn has_contents(&self) -> Fault {
        let found = words::quote(self.as_str());
        Fault::new(Rule::Type, &found, "a choice without contents as the key")
    }
}

impl<'de> VariantAccess<'de> for KeyText<'_, 'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Fault> {
        Err(self.has_contents())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Fault> {
        Err(self.has_contents())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Fault> {
        Err(self.has_contents())
    }
}
