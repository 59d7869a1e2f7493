//! Parses whole numbers of the command line.

use std::ops::RangeInclusive;

/// Parses a whole number, and refuses one out of bounds.
pub(crate) fn within(
    bounds: RangeInclusive<u32>,
) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let (least, most) = (bounds.start(), bounds.end());
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        number.ok_or_else(|| format!("expected a whole number from {least} to {most}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_number_is_reported_with_its_bounds() {
        let number = within(1..=9);
        assert_eq!(number("9"), Ok(9));
        for text in ["", "many", "0", "10", "-1", "1.5", "99999999999"] {
            assert_eq!(
                number(text),
                Err("expected a whole number from 1 to 9".to_owned()),
                "{text}"
            );
        }
    }
}
