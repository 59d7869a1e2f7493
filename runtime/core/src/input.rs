//! Reads raw JSON as typed input. The reader is strict: unless repairs are allowed, it refuses every input that the
//! schema refuses.

mod access;
mod bounds;
mod deserializer;
mod entries;
mod fault;
mod field;
#[doc(hidden)]
pub mod formats;
mod key;
mod keys;
mod known;
mod number;
mod object;
mod param;
mod problem;
mod reader;
mod second;
mod shape;
mod skip;
mod string;
mod variant;
#[doc(hidden)]
pub mod words;

pub(crate) use bounds::decimal;
pub use bounds::{Bound, BoundOf, Bounds, Length, Number, Text};
#[doc(hidden)]
pub use fault::ExpectedInput;
pub use fault::Fault;
pub use field::Field;
pub use keys::{InvalidKeys, Key, Keys};
#[doc(hidden)]
pub use known::{IsKnown, Knowledge, KnownType, UnknownType, VisitedTypes};
#[doc(hidden)]
pub use object::{Changes, read_repairing};
pub use object::{Slots, absent, fill, read_object};
pub use param::{Input, Param};
pub use problem::{Problem, Problems, Rule};
pub use reader::Reader;
#[doc(hidden)]
pub use second::reread;
pub use shape::{AnyShape, Impossible, KeysInJson, Limits, NoRange, ObjectInJson, Range, Shape};
#[doc(hidden)]
pub use words::shorten;

/// The slots of a tool that has no parameters.
pub struct NoSlots;

impl Slots for NoSlots {
    fn put(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        reader.skip_value().map(drop)
    }
}
