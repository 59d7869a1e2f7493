//! One parameter of a tool: all that rustc knows of its type, as functions that need no bounds
//! where they are used. So a type that cannot be an input is reported once, at the type.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::bounds::{Bound, Bounds, Length, Number, Text};
use super::fault::Fault;
use super::keys::Keys;
use super::object::{absent, fill};
use super::problem::{Problems, Rule};
use super::reader::Reader;
use crate::spec::{ParamSpec, SchemaOf};

/// What a tool may take as a parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an input of a tool",
    label = "it cannot be read from JSON by a schema",
    note = "write `#[toolwright::data]` on the type; input is owned and may be sent between threads"
)]
pub trait Input: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for T {}

/// How long a value is, and in what unit.
type Measure<T> = (fn(&T) -> Option<usize>, &'static str);

/// Evidence that `T` is an input, with its limits.
pub struct Param<T> {
    fill: fn(&mut Option<T>, &mut Reader<'_>) -> Result<(), Fault>,
    absent: fn() -> Option<T>,
    read: fn(&mut Reader<'_>) -> Result<T, Fault>,
    optional: fn() -> bool,
    schema: SchemaOf,
    number: Option<fn(&T) -> Option<Bound>>,
    length: Option<Measure<T>>,
    bounds: Bounds,
}

impl<T: Input> Param<T> {
    pub const fn of() -> Self {
        Self {
            fill: fill::<T>,
            absent: absent::<T>,
            read: |reader| reader.read(),
            optional: || absent::<T>().is_some(),
            schema: |generator| generator.subschema_for::<T>(),
            number: None,
            length: None,
            bounds: Bounds::NONE,
        }
    }
}

impl<T> Param<T> {
    pub const fn minimum(mut self, minimum: Bound) -> Self
    where
        T: Number,
    {
        self.bounds.minimum = Some(minimum);
        self.number = Some(T::number);
        self
    }

    pub const fn maximum(mut self, maximum: Bound) -> Self
    where
        T: Number,
    {
        self.bounds.maximum = Some(maximum);
        self.number = Some(T::number);
        self
    }

    pub const fn length(mut self, shortest: Option<usize>, longest: Option<usize>) -> Self
    where
        T: Length,
    {
        self.bounds.shortest = shortest;
        self.bounds.longest = longest;
        self.length = Some((T::length, T::UNIT));
        self
    }

    /// The pattern is checked against the raw text, by the schema.
    pub const fn pattern(mut self, pattern: &'static str) -> Self
    where
        T: Text,
    {
        self.bounds.pattern = Some(pattern);
        self
    }

    /// The static description of the parameter.
    pub const fn spec(&self, name: &'static str, docs: &'static str) -> ParamSpec {
        ParamSpec {
            name,
            docs,
            schema: self.schema,
            optional: self.optional,
            bounds: self.bounds,
            default: None,
            examples: &[],
            aliases: &[],
            secret: false,
            short: None,
            positional: false,
        }
    }

    /// Reads the value into its slot, within its limits.
    #[inline(always)]
    pub fn fill(&self, slot: &mut Option<T>, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let start = reader.position();
        (self.fill)(slot, reader)?;
        if let (Some(number), Some(value)) = (self.number, slot.as_ref())
            && let Some(number) = number(value)
        {
            self.bounds.check_number(number, reader.since(start))?;
        }
        if let (Some((length, unit)), Some(value)) = (self.length, slot.as_ref())
            && let Some(length) = length(value)
        {
            self.bounds.check_length(length, unit)?;
        }
        Ok(())
    }

    /// The value of a slot; the object loop has seen to it that required ones are filled.
    #[inline(always)]
    pub fn take(&self, slot: Option<T>) -> Result<T, Problems> {
        match slot {
            Some(value) => Ok(value),
            None => (self.absent)().ok_or_else(|| Problems::of("a required parameter is missing")),
        }
    }

    #[inline(always)]
    pub fn take_or(&self, slot: Option<T>, default: fn() -> T) -> T {
        slot.unwrap_or_else(default)
    }

    /// Reads the whole input as this one value.
    pub fn read_whole(&self, text: &str, keys: &Keys) -> Result<T, Problems> {
        let mut reader = Reader::new(text);
        let value = (self.read)(&mut reader).and_then(|value| reader.finish().map(|()| value));
        match value {
            Ok(value) => keys.check_whole(text).map(|()| value),
            Err(fault) => Err(Problems::from(fault)),
        }
    }
}

impl Problems {
    /// One problem with the whole input.
    #[cold]
    pub(crate) fn of(expected: &str) -> Self {
        Self::from(Fault::new(Rule::Other, "the input", expected))
    }
}
