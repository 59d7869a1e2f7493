//! The HTTP header `retry-after`.

use std::time::{Duration, SystemTime};

/// Parses the value of a `retry-after` header, by which a server says how long its clients should wait. The value is a
/// number of seconds or a date. A date that has passed gives a zero duration. Returns `None` if the value is neither.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use toolwright::retry::retry_after;
/// use toolwright::{ErrorClass, ToolError};
///
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
/// assert_eq!(retry_after("120", now), Some(Duration::from_secs(120)));
/// assert_eq!(retry_after("Sun, 06 Nov 1994 08:50:37 GMT", now), Some(Duration::from_secs(60)));
/// assert_eq!(retry_after("soon", now), None);
///
/// let error = ToolError::new("rate_limited", "the service wants fewer requests")
///     .class(ErrorClass::NotStarted { retry_after: retry_after("120", now) });
/// # let _ = error;
/// ```
#[must_use]
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        return value.parse().ok().map(Duration::from_secs);
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}
