//! Writes JSON numbers in canonical form: equal numbers give the same text.
//!
//! A number is written as digits that neither begin nor end with 0, times a power of ten. If at most `MOST_ZEROS` zeros
//! have to be added, the number is written out in full, as `1200` or `0.05`. Otherwise it is written as `12e345`, so
//! that a large exponent does not make a long text. The work is linear in the length of the text, and no digit is lost.

use std::borrow::Cow;

/// The maximum number of zeros that are written out: enough for every integer of 128 bits.
const MOST_ZEROS: usize = 40;
/// The maximum number of digits of an exponent that is computed as an integer.
const SHORT: usize = 30;

/// Writes the canonical text of a JSON number.
pub fn canonical(number: &str) -> Cow<'_, str> {
    let (sign, unsigned) = match number.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", number),
    };
    let is_short = unsigned.bytes().all(|byte| byte.is_ascii_digit());
    if is_short && !unsigned.ends_with('0') {
        return Cow::Borrowed(number);
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let written = [whole, fraction].concat();
    let digits = written.trim_end_matches('0');
    let zeros = written.len() - digits.len();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Cow::Borrowed("0");
    }
    // The lengths are those of texts in memory, so they fit into an `i128`.
    let shift = zeros as i128 - fraction.len() as i128;
    let power = sum(exponent, shift);
    Cow::Owned(format!("{sign}{}", spell(digits, &power)))
}

/// Writes digits times a power of ten in canonical form.
fn spell(digits: &str, power: &str) -> String {
    let Ok(power) = power.parse::<i64>() else { return format!("{digits}e{power}") };
    let places = usize::try_from(power.unsigned_abs()).unwrap_or(usize::MAX);
    if power >= 0 {
        return match places {
            0..=MOST_ZEROS => format!("{digits}{}", "0".repeat(places)),
            _ => format!("{digits}e{power}"),
        };
    }
    match places.checked_sub(digits.len()) {
        None => {
            let (whole, fraction) = digits.split_at(digits.len() - places);
            format!("{whole}.{fraction}")
        }
        Some(zeros @ 0..=MOST_ZEROS) => format!("0.{}{digits}", "0".repeat(zeros)),
        Some(_) => format!("{digits}e{power}"),
    }
}

/// Adds `shift` to an exponent, which may have any number of digits.
fn sum(exponent: &str, shift: i128) -> String {
    let is_negative = exponent.starts_with('-');
    let magnitude = exponent.trim_start_matches(['+', '-']).trim_start_matches('0');
    if magnitude.len() <= SHORT {
        let magnitude: i128 =
            magnitude.bytes().fold(0, |sum, digit| sum * 10 + i128::from(digit - b'0'));
        let exponent = if is_negative { -magnitude } else { magnitude };
        return (exponent + shift).to_string();
    }
    // The exponent is so much larger than the shift that their sum has the sign of the exponent.
    let mut carry = if is_negative { -shift } else { shift };
    let mut digits: Vec<char> = magnitude.chars().collect();
    for place in digits.iter_mut().rev() {
        if carry == 0 {
            break;
        }
        let digit = i128::from(place.to_digit(10).unwrap_or_default()) + carry;
        carry = digit.div_euclid(10);
        *place = char::from(b'0' + digit.rem_euclid(10) as u8);
    }
    let sum: String = digits.into_iter().collect();
    let carried = if carry > 0 { carry.to_string() } else { String::new() };
    let sum = [carried.as_str(), &sum].concat();
    let sign = if is_negative { "-" } else { "" };
    format!("{sign}{}", sum.trim_start_matches('0'))
}
