//! Formats times for people: in UTC to the second, and relative to now.

use jiff::Timestamp;

/// Formats a time and its distance from now, as in `2026-01-02T03:04:05Z (3 min ago)`.
pub(crate) fn both(time: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", absolute(time), away(time, now))
}

pub(crate) fn absolute(time: Timestamp) -> String {
    // Cut off the fractions of a second.
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}

/// Formats the distance from now, rounded, in the largest unit of which it has at least two, or else in seconds.
pub(crate) fn away(time: Timestamp, now: Timestamp) -> String {
    let seconds = time.as_second() - now.as_second();
    let far = seconds.unsigned_abs();
    let (count, unit) = match far {
        0 => return "now".to_owned(),
        1..120 => (far, "s"),
        120..7_170 => (round(far, 60), "min"),
        7_170..171_000 => (round(far, 3_600), "h"),
        _ => (round(far, 86_400), "days"),
    };
    if seconds > 0 { format!("in {count} {unit}") } else { format!("{count} {unit} ago") }
}

fn round(seconds: u64, unit: u64) -> u64 {
    (seconds + unit / 2) / unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_in_the_largest_unit_that_fits() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let shown =
            |seconds: i64| away(Timestamp::from_second(1_800_000_000 + seconds).unwrap(), now);
        assert_eq!(shown(0), "now");
        assert_eq!(shown(-119), "119 s ago");
        assert_eq!(shown(7_169), "in 119 min");
        assert_eq!(shown(7_199), "in 2 h");
        assert_eq!(shown(-86_400), "24 h ago");
        assert_eq!(shown(86_399), "in 24 h");
        assert_eq!(shown(170_999), "in 47 h");
        assert_eq!(shown(171_000), "in 2 days");
        assert_eq!(shown(172_800), "in 2 days");
        assert_eq!(both(now, now), "2027-01-15T08:00:00Z (now)");
    }
}
