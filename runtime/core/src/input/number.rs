//! JSON numbers: integers are computed exactly from their digits, floats by the standard library.
//!
//! - `2.0`, `2e0` and `-0` are integers, as in JSON Schema; no integer is converted through a float.
//! - The work is linear in the digits, whatever the exponent is.

use serde::de::Expected;

use super::{fault::Fault, problem::Rule, reader::Reader, words};

/// A number as it is written in the input; its syntax was checked.
pub(super) struct Number<'t> {
    pub(super) text: &'t str,
    negative: bool,
    whole: &'t [u8],
    fraction: &'t [u8],
    exponent: i64,
    /// Whether the number has no fraction and no exponent.
    pub(super) plain: bool,
}

/// The value of a number as an integer.
pub(super) enum Exact {
    Integer {
        negative: bool,
        magnitude: u128,
    },
    /// The number has a fraction.
    Fraction,
    /// The integer has more than 128 bits.
    Large,
}

/// The largest integer of 18 digits, with one more digit, fits an `i64`.
const PLAIN_DIGITS: usize = 18;

impl<'de> Reader<'de> {
    /// Reads an integer of at most 18 digits without fraction and exponent; otherwise the cursor does not move.
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

    /// Reads any number; reports any other value as a mismatch.
    pub(super) fn number(&mut self, expected: &dyn Expected) -> Result<Number<'de>, Fault> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.number_here(),
            _ => Err(self.mismatch(expected)),
        }
    }

    /// Reads the number at the cursor, which is at its digit or minus sign.
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

    /// Reads any integer from `start`, within bounds, as the bits of its two's complement.
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
    /// Returns the integer that the digits express, in any notation.
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

    /// Whether a number that was rounded to a type's largest or smallest value is not beyond it.
    #[cold]
    pub(super) fn is_within(&self, maximum: f64) -> bool {
        self.text.parse::<f64>().is_ok_and(|value| value.abs() <= maximum)
    }

    /// Makes the fault of a number that does not fit its type.
    #[cold]
    pub(super) fn out_of_range(&self, expected: impl Into<String>) -> Fault {
        Fault::new(Rule::Range, self.text, expected)
    }
}
