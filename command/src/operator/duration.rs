//! A length of time on the command line. A day has 24 hours, a week seven days.

use std::time::Duration;

use jiff::{SignedDuration, Span, SpanRelativeTo};

/// One that is not nothing, such as `500ms`, `2h30m` or `7d`.
pub(crate) fn signed(text: &str) -> Result<SignedDuration, String> {
    let span: Span = text.parse().map_err(|error| format!("{error}"))?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| {
        "expected weeks, days, hours, minutes and seconds, such as 7d or 1h30m".to_owned()
    })?;
    if duration.is_positive() {
        Ok(duration)
    } else {
        Err("it is not longer than nothing".to_owned())
    }
}

/// The same, to wait for.
pub(crate) fn to_wait(text: &str) -> Result<Duration, String> {
    Duration::try_from(signed(text)?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_days_and_goes_forward() {
        assert_eq!(signed("7d"), Ok(SignedDuration::from_hours(168)));
        assert_eq!(signed("1h30m"), Ok(SignedDuration::from_mins(90)));
        assert_eq!(to_wait("500ms"), Ok(Duration::from_millis(500)));
        for text in ["0s", "-2h", "1mo", "soon"] {
            assert!(signed(text).is_err(), "{text}");
        }
    }
}
