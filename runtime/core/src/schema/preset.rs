//! The JSON form of a default or an example.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

use crate::input::decimal;

/// Converts the value of a default or an example to JSON.
pub fn json(value: &impl Serialize) -> serde_json::Result<Value> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Exactly))?;
    serde_json::from_slice(&text)
}

/// Writes an `f32` as its shortest decimal, and refuses an integer that does not fit into 64 bits.
struct Exactly;

impl Formatter for Exactly {
    fn write_f32<W: ?Sized + Write>(&mut self, writer: &mut W, value: f32) -> io::Result<()> {
        self.write_f64(writer, decimal(value))
    }

    fn write_i128<W: ?Sized + Write>(&mut self, writer: &mut W, value: i128) -> io::Result<()> {
        match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => self.write_i64(writer, value),
            (_, Ok(value)) => self.write_u64(writer, value),
            _ => Err(too_large(&value)),
        }
    }

    fn write_u128<W: ?Sized + Write>(&mut self, writer: &mut W, value: u128) -> io::Result<()> {
        match u64::try_from(value) {
            Ok(value) => self.write_u64(writer, value),
            _ => Err(too_large(&value)),
        }
    }
}

fn too_large(value: &dyn std::fmt::Display) -> io::Error {
    io::Error::other(format!("{value} has more than 64 bits"))
}
