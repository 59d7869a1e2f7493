//! Marks the types of which it is certain, without a test of sample values, that they accept exactly the values of
//! their schemas.
//!
//! - [`KnownType`] is implemented for standard types here, and by `#[data]` for a type whose attributes change its schema
//!   and its `Deserialize` alike.
//! - Generated code uses [`Knowledge`], which exists for every type; a type that does not implement [`KnownType`] is
//!   unknown.
//! - Whether the reader alone can enforce a schema is a separate question, which depends on the schema.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

use std::any::TypeId;
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

use serde_json::Value;

/// A type that accepts exactly the values of its schema, if the types inside it do.
pub trait KnownType {
    /// Returns whether this type and all types inside of it are known to accept exactly the values of their schemas.
    fn is_known(visited: &mut VisitedTypes) -> bool;
}

/// A function that returns whether a type is known: see [`KnownType::is_known`].
pub type IsKnown = fn(&mut VisitedTypes) -> bool;

/// The types that a query has visited. A query that meets one of them again stops there, so a recursive type causes no
/// endless loop.
#[derive(Default)]
pub struct VisitedTypes(Vec<TypeId>);

impl VisitedTypes {
    /// Returns whether the types inside of `T` are known. A type that was visited before counts as known, because its
    /// first visit decides.
    pub fn judge<T: 'static>(&mut self, inside: &[IsKnown]) -> bool {
        let id = TypeId::of::<T>();
        if self.0.contains(&id) {
            return true;
        }
        self.0.push(id);
        inside.iter().all(|is_known| is_known(self))
    }
}

/// Determines whether `T` is known: with the function of [`KnownType`] if `T` implements it, otherwise with that of
/// [`UnknownType`].
pub struct Knowledge<T: ?Sized>(PhantomData<T>);

impl<T: KnownType> Knowledge<T> {
    pub fn is_known(visited: &mut VisitedTypes) -> bool {
        T::is_known(visited)
    }
}

/// Implemented for the [`Knowledge`] of every type. Rustc finds this function only if the type is not a [`KnownType`].
pub trait UnknownType {
    fn is_known(_: &mut VisitedTypes) -> bool {
        false
    }
}

impl<T: ?Sized> UnknownType for Knowledge<T> {}

macro_rules! known {
    ($($type:ty),*) => {
        $(impl KnownType for $type {
            fn is_known(_: &mut VisitedTypes) -> bool {
                true
            }
        })*
    };
}

known!(bool, String, Value, f32, f64);
known!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

macro_rules! known_if_inside {
    ($([$($generics:tt)*] $type:ty),*) => {
        $(impl<T: KnownType, $($generics)*> KnownType for $type {
            fn is_known(visited: &mut VisitedTypes) -> bool {
                T::is_known(visited)
            }
        })*
    };
}

known_if_inside!([] Option<T>, [] Vec<T>, [] Box<T>, [S] HashMap<String, T, S>, [] BTreeMap<String, T>);
