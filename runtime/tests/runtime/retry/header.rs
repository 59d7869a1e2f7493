//! `retry-after`, as servers write it.

use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use toolwright::retry::retry_after;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_323_045)
}

#[test]
fn seconds_and_dates_are_read() {
    let date = written(now() + Duration::from_secs(90));
    for (value, seconds) in [("0", 0), (" 30 ", 30), (date.as_str(), 90)] {
        assert_eq!(retry_after(value, now()), Some(Duration::from_secs(seconds)), "{value}");
    }
}

#[test]
fn a_date_that_has_passed_is_no_time() {
    assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now()), Some(Duration::ZERO));
}

#[test]
fn anything_else_is_nothing() {
    for value in ["", " ", "-1", "+1", "1.5", "1e3", "99999999999999999999", "soon", "0x10", "１"]
    {
        assert_eq!(retry_after(value, now()), None, "{value:?}");
    }
}

proptest! {
    #[test]
    fn no_value_makes_it_panic(value in any::<String>()) {
        let _ = retry_after(&value, now());
    }

    #[test]
    fn every_count_of_seconds_is_taken_as_it_is(seconds in any::<u64>()) {
        prop_assert_eq!(retry_after(&seconds.to_string(), now()), Some(Duration::from_secs(seconds)));
    }
}

fn written(time: SystemTime) -> String {
    httpdate::fmt_http_date(time)
}
