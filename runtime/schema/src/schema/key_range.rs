//! Makes a regular expression for the keys of a map with integer keys.

/// Returns a pattern that matches the integers between two limits. Each integer has only one spelling: without a plus
/// sign and without leading zeros.
pub(super) fn pattern(minimum: i128, maximum: u128, has_zero: bool) -> String {
    let mut choices = Vec::new();
    if has_zero {
        choices.push("0".to_owned());
    }
    choices.extend(up_to(maximum));
    if minimum < 0 {
        choices.push(format!("-({})", up_to(minimum.unsigned_abs()).join("|")));
    }
    format!("^({})$", choices.join("|"))
}

/// Returns patterns that together match the integers from one to `most`.
fn up_to(most: u128) -> Vec<String> {
    let digits: Vec<u32> = most.to_string().chars().filter_map(|it| it.to_digit(10)).collect();
    let count = digits.len();
    // Such keys are rare, and an exact pattern for more than 64 bits would be very long. So the pattern accepts only
    // integers that have fewer digits than the largest.
    if count > u64::MAX.to_string().len() {
        return vec![format!("[1-9][0-9]{{0,{}}}", count - 2)];
    }
    let mut choices = Vec::new();
    match count {
        0 | 1 => {}
        2 => choices.push("[1-9]".to_owned()),
        3 => choices.push("[1-9][0-9]?".to_owned()),
        _ => choices.push(format!("[1-9][0-9]{{0,{}}}", count - 2)),
    }
    let mut before = String::new();
    for (index, digit) in digits.iter().enumerate() {
        let (least, rest) = (u32::from(index == 0), count - index - 1);
        if *digit > least {
            let range = match digit - 1 {
                last if last == least => last.to_string(),
                last => format!("[{least}-{last}]"),
            };
            let any = match rest {
                0 => String::new(),
                1 => "[0-9]".to_owned(),
                more => format!("[0-9]{{{more}}}"),
            };
            choices.push(format!("{before}{range}{any}"));
        }
        before.push_str(&digit.to_string());
    }
    choices.push(before);
    choices
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::pattern;

    fn takes(pattern: &str, key: &str) -> bool {
        jsonschema::is_valid(&json!({"pattern": pattern}), &json!(key))
    }

    #[test]
    fn every_byte_and_nothing_else_is_a_key() {
        let (unsigned, signed) = (pattern(0, 255, true), pattern(-128, 127, true));
        for number in -300..=600_i32 {
            let key = number.to_string();
            assert_eq!(takes(&unsigned, &key), u8::try_from(number).is_ok(), "{key} {unsigned}");
            assert_eq!(takes(&signed, &key), i8::try_from(number).is_ok(), "{key} {signed}");
        }
        for odd in ["", "-0", "+1", "01", "1.0", " 1", "1 ", "--1"] {
            assert!(!takes(&unsigned, odd) && !takes(&signed, odd), "{odd}");
        }
    }

    #[test]
    fn the_widest_types_end_where_they_end() {
        let (unsigned, signed) =
            (pattern(0, u64::MAX.into(), false), pattern(i64::MIN.into(), 1, true));
        assert!(takes(&unsigned, "18446744073709551615") && !takes(&unsigned, "0"));
        assert!(!takes(&unsigned, "18446744073709551616"));
        assert!(takes(&signed, "-9223372036854775808") && takes(&signed, "1"));
        assert!(!takes(&signed, "-9223372036854775809") && !takes(&signed, "2"));
    }

    #[test]
    fn keys_of_128_bits_have_a_digit_less_than_their_largest() {
        let wide = pattern(0, u128::MAX, true);
        assert_eq!(wide, "^(0|[1-9][0-9]{0,37})$");
    }
}
