//! Refuses at compile time what a parameter's type cannot accept: a limit that the type cannot represent, a type that
//! is not an object for the whole input, a map whose keys are not text.
//!
//! Each check has an inherent item for the types that it knows, and a trait with an item of the same name for all other
//! types. So a type that no check knows is accepted, and an alias is checked as the type that it names.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::marker::PhantomData;
use std::path::PathBuf;

use super::bounds::Number;

/// The smallest and the largest number that a type can hold, with the message for a number outside of them.
#[derive(Clone, Copy)]
pub struct Limits {
    pub low: i128,
    pub high: i128,
    pub message: &'static str,
}

impl Limits {
    pub const ANY: Self = Self { low: i128::MIN, high: i128::MAX, message: "" };

    /// Fails to compile if the type cannot hold the number.
    #[track_caller]
    pub const fn check(self, limit: i128) {
        if limit < self.low || limit > self.high {
            panic!("{}", self.message);
        }
    }
}

/// Gives the limits of a type to generated code.
pub struct Range<T>(PhantomData<fn(T)>);

impl<T: Number> Range<T> {
    pub const LIMITS: Limits = T::LIMITS;
}

/// Implemented for all types. For a type that is a number, rustc prefers the inherent item of [`Range`].
pub trait NoRange {
    const LIMITS: Limits = Limits::ANY;
}

impl<T> NoRange for Range<T> {}

/// Determines for generated code which kinds of JSON values a type can be.
pub struct Shape<T>(PhantomData<fn(T)>);

/// The result for a type that may be suitable.
pub struct Possible;

/// The result for a type that is certainly unsuitable.
pub struct Impossible<T>(PhantomData<fn(T)>);

impl<T> Shape<T> {
    pub const NEW: Self = Self(PhantomData);
}

impl<T: NoObject> Shape<T> {
    pub fn object(&self) -> Impossible<T> {
        Impossible(PhantomData)
    }
}

impl<T: KeyedByNoText> Shape<T> {
    pub fn keys(&self) -> Impossible<T> {
        Impossible(PhantomData)
    }
}

/// Implemented for all types. For a type that is known to be unsuitable, rustc prefers the inherent methods of
/// [`Shape`].
pub trait AnyShape {
    fn object(&self) -> Possible {
        Possible
    }

    fn keys(&self) -> Possible {
        Possible
    }
}

impl<T> AnyShape for Shape<T> {}

#[diagnostic::on_unimplemented(
    message = "`{T}` cannot carry the whole input of a tool",
    label = "the input is an object, and this is none in JSON",
    note = "drop `#[input]` to make it one key of the object, or take a struct with `#[toolwright::data]`"
)]
pub trait ObjectInJson<T> {
    fn said(self);
}

#[diagnostic::do_not_recommend]
impl<T> ObjectInJson<T> for Possible {
    fn said(self) {}
}

#[diagnostic::on_unimplemented(
    message = "`{T}` has keys that no JSON object can have",
    label = "a key in JSON is text",
    note = "take a list of pairs, `Vec<(K, V)>`, or keys that are text, such as a `String`"
)]
pub trait KeysInJson<T> {
    fn said(self);
}

#[diagnostic::do_not_recommend]
impl<T> KeysInJson<T> for Possible {
    fn said(self) {}
}

/// Implemented for types that are not an object in JSON.
pub trait NoObject {}

macro_rules! no_objects {
    ($(($($generic:ident),*) $ty:ty),* $(,)?) => {$(
        impl<$($generic),*> NoObject for $ty {}
    )*};
}

no_objects! {
    () String, () PathBuf, () bool, () char, () (), () u8, () u16, () u32, () u64, () u128, () usize,
    () i8, () i16, () i32, () i64, () i128, () isize, () f32, () f64,
    (T) Vec<T>, (T) Box<[T]>, (T) VecDeque<T>, (T) BTreeSet<T>, (T, S) HashSet<T, S>, (T) Option<T>,
    (A) (A,), (A, B) (A, B), (A, B, C) (A, B, C), (A, B, C, D) (A, B, C, D),
}

impl<T, const N: usize> NoObject for [T; N] {}

/// Implemented for maps whose keys cannot be written as text, and for containers of such maps.
pub trait KeyedByNoText {}

impl<K: NoText, V> KeyedByNoText for BTreeMap<K, V> {}

impl<K: NoText, V, S> KeyedByNoText for HashMap<K, V, S> {}

impl<T: KeyedByNoText> KeyedByNoText for Option<T> {}

impl<T: KeyedByNoText> KeyedByNoText for Vec<T> {}

impl<T: KeyedByNoText> KeyedByNoText for Box<T> {}

/// Implemented for types that cannot be the key of a JSON object.
pub trait NoText {}

macro_rules! no_texts {
    ($(($($generic:ident),*) $ty:ty),* $(,)?) => {$(
        impl<$($generic),*> NoText for $ty {}
    )*};
}

no_texts! {
    () (), (T) Vec<T>, (T) Box<[T]>, (T) VecDeque<T>, (T) BTreeSet<T>, (K, V) BTreeMap<K, V>,
    (A) (A,), (A, B) (A, B), (A, B, C) (A, B, C), (A, B, C, D) (A, B, C, D),
    (A, B, C, D, E) (A, B, C, D, E), (A, B, C, D, E, F) (A, B, C, D, E, F),
}

impl<T, const N: usize> NoText for [T; N] {}
