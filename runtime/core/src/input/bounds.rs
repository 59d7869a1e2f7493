//! The limits that `#[arg]` sets: bounds of numbers, lengths of text and lists, and patterns of text.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

use std::fmt;
use std::marker::PhantomData;

use super::fault::Fault;
use super::problem::Rule;
use super::shape::Limits;
use super::words;

/// A number that is compared with another one: a limit, or the number to check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    Integer(i128),
    Float(f64),
    /// A 32-bit float. For comparisons with other numbers, it counts as the shortest decimal that parses to it.
    Single(f32),
}

/// All limits of one parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub minimum: Option<Bound>,
    pub maximum: Option<Bound>,
    pub shortest: Option<usize>,
    pub longest: Option<usize>,
    pub pattern: Option<&'static str>,
}

impl Bounds {
    pub const NONE: Self =
        Self { minimum: None, maximum: None, shortest: None, longest: None, pattern: None };

    pub(super) fn check_number(&self, number: Bound, text: &str) -> Result<(), Fault> {
        let low = self.minimum.is_some_and(|minimum| number.is_below(minimum));
        let high = self.maximum.is_some_and(|maximum| maximum.is_below(number));
        if low || high { Err(self.number_out_of_range(text)) } else { Ok(()) }
    }

    pub(super) fn check_length(&self, length: usize, unit: &str) -> Result<(), Fault> {
        let short = self.shortest.is_some_and(|shortest| length < shortest);
        let long = self.longest.is_some_and(|longest| length > longest);
        if short || long { Err(self.length_out_of_range(length, unit)) } else { Ok(()) }
    }

    #[cold]
    fn number_out_of_range(&self, text: &str) -> Fault {
        let expected = words::between("a number", self.minimum, self.maximum);
        Fault::new(Rule::Range, text, expected)
    }

    #[cold]
    fn length_out_of_range(&self, length: usize, unit: &str) -> Fault {
        let expected = words::counts(self.shortest, self.longest, unit);
        Fault::new(Rule::Length, &words::many(length, unit), expected)
    }
}

impl Bound {
    fn is_below(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(one), Self::Integer(two)) => one < two,
            // Both are 32-bit floats, so their order is that of their decimals.
            (Self::Single(one), Self::Single(two)) => one < two,
            (one, two) => one.as_float() < two.as_float(),
        }
    }

    #[doc(hidden)]
    pub fn as_float(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
            Self::Single(single) => decimal(single),
        }
    }
}

/// Returns the value of the shortest decimal that parses to this `f32`. Example: the `f32` nearest to 0.1 is a little
/// more than 0.1, and this function returns 0.1. The largest `f32` is returned unchanged, because its shortest decimal
/// is larger than it.
pub(crate) fn decimal(single: f32) -> f64 {
    let exact = f64::from(single);
    if single.abs() < f32::MAX { single.to_string().parse().unwrap_or(exact) } else { exact }
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => integer.fmt(formatter),
            Self::Float(float) => float.fmt(formatter),
            Self::Single(single) => single.fmt(formatter),
        }
    }
}

/// Turns a constant of the user's code into a bound at compile time.
pub struct BoundOf<T>(pub T);

/// Types to which `minimum` and `maximum` apply.
#[diagnostic::on_unimplemented(
    message = "`minimum` and `maximum` apply to numbers, not to `{Self}`",
    label = "the parameter is no number"
)]
pub trait Number {
    /// The type of a limit in the attribute: the type of the number itself.
    type Limit;
    /// The numbers that can be limits.
    const LIMITS: Limits = Limits::ANY;
    /// Returns the value as a number; `None` if it is no number.
    fn number(&self) -> Option<Bound>;
}

/// Types to which `length` applies.
#[diagnostic::on_unimplemented(
    message = "`length` applies to text, lists, sets and maps, not to `{Self}`",
    label = "the parameter has no length"
)]
pub trait Length: Sized {
    const MEASURE: Measure<Self>;
}

/// Measures the length of a value.
pub struct Measure<T> {
    /// Returns the length of a value; `None` if the value has no length.
    pub(super) length: fn(&T) -> Option<usize>,
    /// The unit of the length.
    pub(super) unit: &'static str,
}

/// Types to which `pattern` and `command` apply.
#[diagnostic::on_unimplemented(
    message = "`pattern` and `command` apply to text, not to `{Self}`",
    label = "the parameter is no text"
)]
pub trait Text: Sized {
    const IS_TEXT: IsText<Self> = IsText(PhantomData);
}

/// Proves that `T` is text.
pub struct IsText<T>(PhantomData<fn(&T)>);

macro_rules! too_large {
    ($number:ty) => {
        concat!(
            "a `",
            stringify!($number),
            "` is never this number; choose a limit that it can be, or drop the limit"
        )
    };
}

/// Makes the limits of a numeric type. A float type has none, because it can approximate any integer.
macro_rules! limits {
    ($number:ty, Integer) => {
        Limits {
            low: <$number>::MIN as i128,
            high: <$number>::MAX as i128,
            message: too_large!($number),
        }
    };
    ($number:ty, $float:ident) => {
        Limits::ANY
    };
}

macro_rules! numbers {
    ($($number:ty => $bound:ident($wide:ty)),* $(,)?) => {$(
        impl BoundOf<$number> {
            pub const fn get(self) -> Bound {
                Bound::$bound(self.0 as $wide)
            }
        }

        #[diagnostic::do_not_recommend]
        impl Number for $number {
            type Limit = $number;
            const LIMITS: Limits = limits!($number, $bound);

            #[inline]
            fn number(&self) -> Option<Bound> {
                Some(Bound::$bound(*self as $wide))
            }
        }
    )*};
}

numbers! {
    u8 => Integer(i128), u16 => Integer(i128), u32 => Integer(i128), u64 => Integer(i128), usize => Integer(i128),
    i8 => Integer(i128), i16 => Integer(i128), i32 => Integer(i128), i64 => Integer(i128), isize => Integer(i128),
    i128 => Integer(i128), f64 => Float(f64), f32 => Single(f32),
}

/// `i128` cannot represent every `u128`, so a larger number is replaced by `i128::MAX`.
impl BoundOf<u128> {
    pub const fn get(self) -> Bound {
        Bound::Integer(if self.0 > i128::MAX as u128 { i128::MAX } else { self.0 as i128 })
    }
}

#[diagnostic::do_not_recommend]
impl Number for u128 {
    type Limit = u128;
    const LIMITS: Limits = Limits { low: 0, high: i128::MAX, message: too_large!(u128) };

    fn number(&self) -> Option<Bound> {
        Some(BoundOf(*self).get())
    }
}

#[diagnostic::do_not_recommend]
impl<N: Number> Number for Option<N> {
    type Limit = N::Limit;
    const LIMITS: Limits = N::LIMITS;

    #[inline]
    fn number(&self) -> Option<Bound> {
        self.as_ref().and_then(N::number)
    }
}

#[diagnostic::do_not_recommend]
impl Length for String {
    const MEASURE: Measure<Self> =
        Measure { length: |text| Some(text.chars().count()), unit: "character" };
}

#[diagnostic::do_not_recommend]
impl<L: Length> Length for Option<L> {
    const MEASURE: Measure<Self> = Measure {
        length: |value| value.as_ref().and_then(L::MEASURE.length),
        unit: L::MEASURE.unit,
    };
}

macro_rules! lists {
    ($(($($generic:ident),*) $list:ty),* $(,)?) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generic),*> Length for $list {
            const MEASURE: Measure<Self> =
                Measure { length: |list| Some(list.len()), unit: "item" };
        }
    )*};
}

lists! {
    (T) Vec<T>, (T) Box<[T]>, (T) std::collections::VecDeque<T>, (T) std::collections::BTreeSet<T>,
    (T, S) std::collections::HashSet<T, S>, (K, V) std::collections::BTreeMap<K, V>,
    (K, V, S) std::collections::HashMap<K, V, S>,
}

#[diagnostic::do_not_recommend]
impl Text for String {}

#[diagnostic::do_not_recommend]
impl Text for std::path::PathBuf {}

#[diagnostic::do_not_recommend]
impl<T: Text> Text for Option<T> {}
