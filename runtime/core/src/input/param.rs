//! One parameter of a tool. All that depends on the parameter's type is stored as functions, so that code which uses a
//! parameter needs no trait bounds.
//!
//! Generated code requires a property of a type by naming an item of a trait that has no supertraits. It never uses a
//! bound, because rustc would then quote this file. A supertrait would make rustc report each mistake twice.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::bounds::{Bound, Bounds, IsText, Measure};
use super::fault::Fault;
use super::keys::Keys;
use super::known::IsKnown;
use super::object::{absent, fill};
use super::problem::{Problems, Rule};
use super::reader::Reader;
use super::second::reread;
use crate::spec::{ParamSpec, SchemaOf};

/// Implemented for the types that a tool may have as a parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an input of a tool",
    label = "input is read from JSON, has a schema, and may be sent between threads",
    note = "write `#[toolwright::data]` on your own types; what the runtime hands in is borrowed: `&T`",
    note = "types of chrono, jiff, url and uuid are input with the feature of that name of `toolwright`"
)]
pub trait Input: Sized {
    const PARAM: Param<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for T {
    const PARAM: Param<T> = Param {
        fill: fill::<T>,
        absent: absent::<T>,
        read: |reader| reader.read(),
        probe: |reader| fill::<T>(&mut None, reader),
        optional: || absent::<T>().is_some(),
        is_known: |_| false,
        schema: |generator| generator.subschema_for::<T>(),
        number: None,
        length: None,
        bounds: Bounds::NONE,
        command: false,
    };
}

/// Proves that `T` can be an input, and contains the parameter's limits.
pub struct Param<T> {
    fill: fn(&mut Option<T>, &mut Reader<'_>) -> Result<(), Fault>,
    absent: fn() -> Option<T>,
    read: fn(&mut Reader<'_>) -> Result<T, Fault>,
    probe: fn(&mut Reader<'_>) -> Result<(), Fault>,
    optional: fn() -> bool,
    is_known: IsKnown,
    schema: SchemaOf,
    number: Option<fn(&T) -> Option<Bound>>,
    length: Option<Measure<T>>,
    bounds: Bounds,
    command: bool,
}

impl<T> Param<T> {
    pub const fn minimum(mut self, minimum: Bound, number: fn(&T) -> Option<Bound>) -> Self {
        self.bounds.minimum = Some(minimum);
        self.number = Some(number);
        self
    }

    pub const fn maximum(mut self, maximum: Bound, number: fn(&T) -> Option<Bound>) -> Self {
        self.bounds.maximum = Some(maximum);
        self.number = Some(number);
        self
    }

    pub const fn length(
        mut self,
        shortest: Option<usize>,
        longest: Option<usize>,
        measure: Measure<T>,
    ) -> Self {
        self.bounds.shortest = shortest;
        self.bounds.longest = longest;
        self.length = Some(measure);
        self
    }

    /// Sets the pattern. The schema check applies it to the raw text.
    pub const fn pattern(mut self, pattern: &'static str, _: IsText<T>) -> Self {
        self.bounds.pattern = Some(pattern);
        self
    }

    /// Marks the value as a command line. Policies then parse it.
    pub const fn command(mut self, _: IsText<T>) -> Self {
        self.command = true;
        self
    }

    /// Sets the function that determines whether the type is known: see [`KnownType`](super::known::KnownType).
    /// Generated code passes the function, because it must be chosen where the type is written.
    pub const fn known_by(mut self, is_known: IsKnown) -> Self {
        self.is_known = is_known;
        self
    }

    /// Returns the static description of the parameter for the tool's `Spec`.
    pub const fn spec(&self, name: &'static str, docs: &'static str) -> ParamSpec {
        ParamSpec {
            name,
            docs,
            schema: self.schema,
            probe: self.probe,
            optional: self.optional,
            is_known: self.is_known,
            bounds: self.bounds,
            default: None,
            examples: &[],
            aliases: &[],
            command: self.command,
            secret: false,
            sink: false,
            short: None,
            positional: false,
        }
    }

    /// Reads the value of the parameter into its slot, and checks the parameter's limits.
    #[inline(always)]
    pub fn fill(&self, slot: &mut Option<T>, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let start = reader.position();
        (self.fill)(slot, reader)?;
        if let (Some(number), Some(value)) = (self.number, slot.as_ref())
            && let Some(number) = number(value)
        {
            self.bounds.check_number(number, reader.since(start))?;
        }
        if let (Some(measure), Some(value)) = (&self.length, slot.as_ref())
            && let Some(length) = (measure.length)(value)
        {
            self.bounds.check_length(length, measure.unit)?;
        }
        Ok(())
    }

    /// Returns the value in a slot, or the value for an absent key. Required parameters are never absent here, because
    /// the object loop has refused an input without them.
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

    /// Reads the whole input as the value of this parameter.
    pub fn read_whole(&self, text: &str, keys: &Keys) -> Result<T, Problems> {
        let read = |reader: &mut Reader<'_>| {
            (self.read)(reader).and_then(|value| reader.finish().map(|()| value))
        };
        let value = read(&mut Reader::new(text)).or_else(|fault| {
            let value = if keys.are_checked() { reread(text, read) } else { None };
            value.ok_or(fault)
        });
        let value = value.map_err(|fault| {
            let first = fault.problem();
            let ends = matches!(first.rule, Rule::Syntax | Rule::Depth);
            let said = if ends { None } else { keys.whole_in_words_of_schema(text, first) };
            said.unwrap_or_else(|| fault.into())
        })?;
        keys.check_whole(text).map(|()| value)
    }
}

impl Problems {
    /// Makes a problem that concerns the whole input; `expected` describes what the input should be.
    #[cold]
    #[doc(hidden)]
    pub fn of(expected: &str) -> Self {
        Self::from(Fault::new(Rule::Other, "the input", expected))
    }
}
