//! JSON numbers. Integers are computed exactly from their digits; floats are parsed by the standard library.
//!
//! - `2.0`, `2e0` and `-0` are integers, as in JSON Schema. No integer is converted through a float.
//! - The work is linear in the number of digits, however large the exponent is.

use serde::de::Expected;

use super::{fault::Fault, problem::Rule, reader::Reader, words};

/// A number as text whose syntax has been checked.
pub(super) struct Number<'t> {
    pub(super) text: &'t str,
    negative: bool,
    whole: &'t [u8],
    fraction: &'t [u8],
    exponent: i64,
    /// Whether the number has neither a fraction nor an exponent.
    pub(super) plain: bool,
}

/// The value of a number, if it is an integer.
pub(super) enum Exact {
    Integer {
        negative: bool,
        magnitude: u128,
    },
    /// The number is not an integer.
    Fraction,
    /// The number is an integer that does not fit into 128 bits.
    Large,
}

/// The maximum number of digits that [`Reader::plain_integer`] reads. An `i64` can represent every number of 18 digits.
const PLAIN_DIGITS: usize = 18;

impl<'de> Reader<'de> {
    /// Reads an integer of at most 18 digits, without fraction and exponent. If there is none, the cursor does not
    /// move.
    #[inline]
    pub(super) fn plain_integer(&mut self) -> Option<i64> {
        let rest = self.text.as_bytes().get(self.position..)?;
        let (sign, digits) = match rest {
            [b'-', digits @ ..] => (1, digits),
            digits => (0, digits),
        };
        let mut value = 0;
        let mut count = 0;
        let after = loop {
            let byte = digits.get(count).copied().unwrap_or(b' ');
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break byte;
            }
            if count == PLAIN_DIGITS {
                return None;
            }
            value = value * 10 + i64::from(digit);
            count += 1;
        };
        let leading_zero = count > 1 && digits.first() == Some(&b'0');
        if count == 0 || leading_zero || matches!(after, b'.' | b'e' | b'E') {
            return None;
        }
        self.position += sign + count;
        Some(if sign == 1 { -value } else { value })
    }

    /// Reads a number. A value of another type is a fault.
    pub(super) fn number(&mut self, expected: &dyn Expected) -> Result<Number<'de>, Fault> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.number_here(),
            _ => Err(self.mismatch(expected)),
        }
    }

    /// Reads the number that begins at the cursor, with a digit or a minus sign.
    pub(super) fn number_here(&mut self) -> Result<Number<'de>, Fault> {
        let start = self.position;
        let negative = self.byte() == Some(b'-');
        if negative {
            self.step();
        }
        let whole = self.digits()?;
        if whole.len() > 1 && whole.first() == Some(&b'0') {
            self.position -= whole.len();
            return Err(self.syntax("a number without leading zeros"));
        }
        let mut fraction: &[u8] = &[];
        if self.byte() == Some(b'.') {
            self.step();
            fraction = self.digits()?;
        }
        let mut exponent = 0;
        let scientific = matches!(self.byte(), Some(b'e' | b'E'));
        if scientific {
            self.step();
            exponent = self.exponent()?;
        }
        let plain = fraction.is_empty() && !scientific;
        Ok(Number { text: self.since(start), negative, whole, fraction, exponent, plain })
    }

    fn exponent(&mut self) -> Result<i64, Fault> {
        let sign = self.byte();
        if let Some(b'+' | b'-') = sign {
            self.step();
        }
        let size = self.digits()?.iter().fold(0_i64, |size, digit| {
            size.saturating_mul(10).saturating_add(i64::from(digit - b'0'))
        });
        Ok(if sign == Some(b'-') { -size } else { size })
    }

    fn digits(&mut self) -> Result<&'de [u8], Fault> {
        let start = self.position;
        while let Some(b'0'..=b'9') = self.byte() {
            self.step();
        }
        match self.since(start).as_bytes() {
            [] => Err(self.syntax("a digit")),
            digits => Ok(digits),
        }
    }

    /// Reads the integer at `start`, in any notation and within bounds, as the bits of its two's complement.
    #[cold]
    pub(super) fn integer(
        &mut self,
        start: usize,
        (minimum, maximum): (i128, u128),
        expected: &dyn Expected,
    ) -> Result<u128, Fault> {
        self.position = start;
        let number = self.number(expected)?;
        match number.exact() {
            Exact::Integer { negative: false, magnitude } if magnitude <= maximum => Ok(magnitude),
            Exact::Integer { negative: true, magnitude } if magnitude <= minimum.unsigned_abs() => {
                Ok(magnitude.wrapping_neg())
            }
            Exact::Fraction => {
                Err(Fault::new(Rule::Type, number.text, words::describe_expected(expected)))
            }
            _ => Err(Fault::new(Rule::Range, number.text, words::range(minimum, maximum))),
        }
    }
}

impl Number<'_> {
    /// Computes the integer that the digits express, in any notation.
    pub(super) fn exact(&self) -> Exact {
        let digits = self.whole.iter().chain(self.fraction);
        let zeros = digits.clone().rev().take_while(|digit| **digit == b'0').count();
        let significant = self.whole.len() + self.fraction.len() - zeros;
        if significant == 0 {
            return Exact::Integer { negative: false, magnitude: 0 };
        }
        let scale = self
            .exponent
            .saturating_add_unsigned(zeros as u64)
            .saturating_sub_unsigned(self.fraction.len() as u64);
        if scale < 0 {
            return Exact::Fraction;
        }
        let append =
            |magnitude: u128, digit: u8| magnitude.checked_mul(10)?.checked_add(u128::from(digit));
        let mut magnitude =
            digits.take(significant).try_fold(0, |sum, digit| append(sum, digit - b'0'));
        for _ in 0..scale.min(40) {
            magnitude = magnitude.and_then(|magnitude| append(magnitude, 0));
        }
        match magnitude {
            Some(magnitude) => Exact::Integer { negative: self.negative, magnitude },
            None => Exact::Large,
        }
    }

    /// Returns whether the number without its sign, read as an `f64`, is at most `maximum`. Needed because parsing as
    /// an `f32` rounds a number a little above the largest `f32` down to it.
    #[cold]
    pub(super) fn is_within(&self, maximum: f64) -> bool {
        self.text.parse::<f64>().is_ok_and(|value| value.abs() <= maximum)
    }

    /// Makes the fault of a number that is outside of the range of its type.
    #[cold]
    pub(super) fn out_of_range(&self, expected: impl Into<String>) -> Fault {
        Fault::new(Rule::Range, self.text, expected)
    }
}
