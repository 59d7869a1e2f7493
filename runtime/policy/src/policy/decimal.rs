//! Compares numbers without rounding.

use std::cmp::Ordering;

use toolwright_core::json::number;

/// A JSON number: a sign, and 0.digits times a power of ten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    is_negative: bool,
    /// The digits, which neither begin nor end with 0; empty for the number 0.
    digits: String,
    /// The power of ten. A power outside of the range of `i128` is replaced by the nearest value in the range.
    power: i128,
}

impl Decimal {
    pub(super) fn of(number: &str) -> Self {
        let text = number::canonical(number);
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(unsigned) => (true, unsigned),
            None => (false, &*text),
        };
        let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let written = [whole, fraction].concat();
        let leading = written.len() - written.trim_start_matches('0').len();
        let digits = written.trim_matches('0').to_owned();
        let extreme = if exponent.starts_with('-') { i128::MIN } else { i128::MAX };
        // A text in memory is so short that its length fits into an `i128`.
        let shift = whole.len() as i128 - leading as i128;
        let power = exponent.parse::<i128>().map_or(extreme, |it| it.saturating_add(shift));
        Self { is_negative: is_negative && !digits.is_empty(), digits, power }
    }

    /// Whether the number's power of ten is far from the limits of `i128`, so that the number can be compared with
    /// every other.
    pub(super) fn is_comparable(&self) -> bool {
        self.power.unsigned_abs() < 1 << 100
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let magnitude =
            |one: &Self, two: &Self| match (one.digits.is_empty(), two.digits.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => {
                    one.power.cmp(&two.power).then_with(|| one.digits.cmp(&two.digits))
                }
            };
        match (self.is_negative, other.is_negative) {
            (false, false) => magnitude(self, other),
            (true, true) => magnitude(other, self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_without_rounding() {
        let ascending = [
            "-1e400",
            "-10",
            "-9.5",
            "-1e-400",
            "0",
            "1e-99999999999999999999999999999999999999999",
            "1e-400",
            "0.1",
            "0.10000000000000000001",
            "1",
            "2",
            "10",
            "9007199254740992",
            "9007199254740993",
            "1e400",
            "2e400",
            "1e99999999999999999999999999999999999999999",
        ];
        for (index, one) in ascending.iter().enumerate() {
            for (other_index, other) in ascending.iter().enumerate() {
                let order = Decimal::of(one).cmp(&Decimal::of(other));
                assert_eq!(order, index.cmp(&other_index), "{one} and {other}");
            }
        }
    }

    #[test]
    fn a_power_of_ten_leaves_room_for_larger_ones_or_it_is_not_compared() {
        assert!(Decimal::of("0") < Decimal::of("1"));
        let powers = [
            ("1e1267650600228229401496703205374", true),
            ("1e1267650600228229401496703205375", false),
            ("1e-1267650600228229401496703205376", true),
            ("1e-1267650600228229401496703205377", false),
        ];
        for (number, is_comparable) in powers {
            assert_eq!(Decimal::of(number).is_comparable(), is_comparable, "{number}");
        }
    }

    #[test]
    fn spellings_of_one_number_are_equal() {
        for spelling in ["1200", "1.2e3", "12E+2", "1200.000", "0.0012e6"] {
            assert_eq!(
                Decimal::of(spelling).cmp(&Decimal::of("1200")),
                Ordering::Equal,
                "{spelling}"
            );
        }
        assert_eq!(Decimal::of("-0").cmp(&Decimal::of("0.0")), Ordering::Equal);
    }
}
