//! Parses durations and times of the command line. A day has 24 hours, a week has seven days.

use std::time::Duration;

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};

/// The error message for a text that is not a valid duration.
const EXPECTED: &str = "expected a length of time above zero in weeks, days, hours, minutes or seconds, such as 7d, 12h or 1h30m";

/// Parses a positive duration, such as `500ms`, `2h30m` or `7d`.
pub(crate) fn parse_signed(text: &str) -> Result<SignedDuration, String> {
    let duration = text
        .parse()
        .and_then(|span: Span| span.to_duration(SpanRelativeTo::days_are_24_hours()))
        .map_err(|_| EXPECTED)?;
    if duration.is_positive() { Ok(duration) } else { Err(EXPECTED.to_owned()) }
}

/// Parses a time to wait, in the notation of [`parse_signed`].
pub(crate) fn to_wait(text: &str) -> Result<Duration, String> {
    Duration::try_from(parse_signed(text)?).map_err(|_| EXPECTED.to_owned())
}

/// Parses a point in time, such as `2026-01-02T03:04:05Z`.
pub(crate) fn moment(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| {
        "expected a date and time with its offset, such as 2026-11-20T14:30:00Z".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_time_has_its_offset() {
        let moment = |text| super::moment(text).map(|it| it.as_second());
        assert_eq!(moment("1970-01-01T01:00:00+01:00"), Ok(0));
        for text in ["forever", "2026-11-20", "2026-11-20T14:30:00", "20.11.2026"] {
            let why = moment(text).unwrap_err();
            assert!(why.starts_with("expected a date and time with its offset"), "{why}");
        }
    }

    #[test]
    fn a_duration_has_days_and_goes_forward() {
        assert_eq!(parse_signed("7d"), Ok(SignedDuration::from_hours(168)));
        assert_eq!(parse_signed("1h30m"), Ok(SignedDuration::from_mins(90)));
        assert_eq!(to_wait("500ms"), Ok(Duration::from_millis(500)));
        for text in ["0s", "-2h", "1mo", "soon", "forever", "", "7", "99999999999999w"] {
            assert_eq!(parse_signed(text), Err(EXPECTED.to_owned()), "{text}");
            assert_eq!(to_wait(text), Err(EXPECTED.to_owned()), "{text}");
        }
    }
}
